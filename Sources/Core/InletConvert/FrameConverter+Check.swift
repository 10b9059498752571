package import InletCore

extension FrameConverter {
    /// Checks that a frame can be converted: that its size and pixel format are possible, and that every byte that a
    /// conversion may read exists. Reads no pixel.
    ///
    /// - Throws: as ``i420(from:pool:)``, except for an exhausted pool.
    package static func check(_ frame: SourceFrame) throws(InletError) {
        // The most common case, without a look-up or a call into libavutil. Errors are found below.
        if frame.pixelFormat == .yuv420p, holdsI420(frame) { return }
        let format = try NativeFormat.named(frame.pixelFormat)
        guard format.conversion != nil else { throw unsupported(format.pixelFormat) }
        try format.check(frame)
    }

    /// Whether a yuv420p picture has all of its planes.
    private static func holdsI420(_ frame: SourceFrame) -> Bool {
        func holds(_ plane: I420Buffer.Plane) -> Bool {
            let rows = I420Buffer.rows(of: plane, in: frame.size)
            guard let memory = frame.planes[plane.rawValue], Int32(exactly: memory.stride) != nil else { return false }
            return memory.holds(rows: rows.height, of: rows.width)
        }
        return frame.size.isValid && holds(.y) && holds(.u) && holds(.v)
    }

    /// Returns where the planes of a picture lie in one block of memory in which plane follows plane and row follows
    /// row without padding, as in FFmpeg's rawvideo.
    ///
    /// - Throws: ``InletError/Code/unsupported`` for a pixel format that nothing here reads;
    ///   ``InletError/Code/invalidConfiguration`` for an impossible size.
    package static func packedPlanes(
        of pixelFormat: PixelFormat, size: ImageSize
    ) throws(InletError) -> [(offset: Int, stride: Int, byteCount: Int)] {
        let format = try NativeFormat.named(pixelFormat)
        guard format.conversion != nil else { throw unsupported(pixelFormat) }
        guard size.isValid else {
            throw InletError(.invalidConfiguration, "A picture of \(size) pixels cannot exist.")
        }
        var planes: [(offset: Int, stride: Int, byteCount: Int)] = []
        var offset = 0
        for index in 0..<format.planeCount {
            let (rows, rowBytes) = format.extent(ofPlane: index, in: size)
            planes.append((offset, rowBytes, rows * rowBytes))
            offset += rows * rowBytes
        }
        return planes
    }
}

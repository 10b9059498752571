import InletConvert
public import InletCore

// Unsafe: copies pictures that have no owner.
extension FrameInjector {
    /// Pushes a picture in memory that has no owner and may change as soon as this returns. The picture is copied
    /// once, as I420, into pooled memory. Any other pixel format is converted as it is copied.
    ///
    /// - Parameters:
    ///   - bytes: the planes one after another, with unpadded rows unless `stride` is given, as in FFmpeg's rawvideo.
    ///   - pixelFormat: the layout of the bytes.
    ///   - size: the size of the picture.
    ///   - stride: bytes from one row to the next, for pixel formats of one plane. The default, nil, means unpadded
    ///     rows.
    ///   - pts: the presentation time. The default, nil, means the time of the push.
    ///   - colorSpace: how to interpret the samples as colour. The default is unspecified.
    ///   - rotation: the clockwise rotation that makes the picture upright. The default is no rotation.
    /// - Returns: whether the picture was queued; ``DropReason/poolExhausted`` if sinks hold all
    ///   ``InjectorConfiguration/copies``.
    /// - Throws: as ``push(_:)-(SourceFrame)``.
    @discardableResult
    public func push(
        copying bytes: Span<UInt8>, pixelFormat: PixelFormat, size: ImageSize, stride: Int? = nil,
        pts: MediaTime? = nil,
        colorSpace: ColorSpace = .unspecified, rotation: Rotation = .none
    ) throws(InletError) -> InjectorOutcome {
        try counting { () throws(InletError) in
            let layout = try FrameConverter.packedPlanes(of: pixelFormat, size: size)
            guard stride == nil || layout.count == 1 else {
                throw InletError(
                    .invalidConfiguration,
                    "A stride is only for pixel formats of one plane, and \(pixelFormat) has \(layout.count). Push its planes."
                )
            }
            // The span keeps the memory alive and unwritten until this returns, and no plane is used later.
            return try withPlanes(of: bytes, layout, stride) { planes throws(InletError) in
                try copy(
                    SourceFrame(
                        pixelFormat: pixelFormat, size: size, planes: planes, owner: self, pts: pts, sequence: 0,
                        colorSpace: colorSpace, rotation: rotation))
            }
        }
    }

    /// Pushes a picture whose planes may be anywhere, in memory without an owner. It is copied like packed bytes.
    ///
    /// - Parameters:
    ///   - planes: the planes. Their memory must stay valid and unwritten until this returns, and no longer.
    ///   - pixelFormat: the format of the planes.
    ///   - size: the size of the picture.
    ///   - pts: the presentation time. The default, nil, means the time of the push.
    ///   - colorSpace: how to interpret the samples as colour. The default is unspecified.
    ///   - rotation: the clockwise rotation that makes the picture upright. The default is no rotation.
    @discardableResult
    public func push(
        copying planes: SourcePlanes, pixelFormat: PixelFormat, size: ImageSize, pts: MediaTime? = nil,
        colorSpace: ColorSpace = .unspecified, rotation: Rotation = .none
    ) throws(InletError) -> InjectorOutcome {
        try counting { () throws(InletError) in
            try copy(
                SourceFrame(
                    pixelFormat: pixelFormat, size: size, planes: planes, owner: self, pts: pts, sequence: 0,
                    colorSpace: colorSpace, rotation: rotation))
        }
    }

    private func withPlanes(
        of bytes: Span<UInt8>, _ layout: [(offset: Int, stride: Int, byteCount: Int)], _ stride: Int?,
        _ body: (SourcePlanes) throws(InletError) -> InjectorOutcome
    ) throws(InletError) -> InjectorOutcome {
        let result = unsafe bytes.withUnsafeBytes { memory in
            var planes = SourcePlanes()
            for plane in layout {
                // A plane that begins beyond the memory is empty, and is rejected as too short.
                let rest = unsafe UnsafeRawBufferPointer(rebasing: memory[min(plane.offset, memory.count)...])
                unsafe planes.append(SourcePlane(rest, stride: stride ?? plane.stride))
            }
            return Result { () throws(InletError) in try body(planes) }
        }
        return try result.get()
    }

    /// Queues a copy of a picture. Its planes are not used later.
    private func copy(_ borrowed: SourceFrame) throws(InletError) -> InjectorOutcome {
        try requirePictures()
        try FrameConverter.check(borrowed)
        let picture: I420Picture
        do throws(InletError) {
            picture = try owned(converter.i420(from: borrowed, pool: pool), borrowed)
        } catch {
            guard error.code == .resourceExhausted else { throw error }
            return dropForExhaustion()
        }
        noteCopy()
        return try enqueue(
            SourceFrame(
                picture.buffer, pts: borrowed.pts, sequence: 0, colorSpace: picture.colorSpace,
                rotation: borrowed.rotation, flags: .key))
    }

    /// Returns the picture in pooled memory. The conversion did not copy a picture that is already I420, so it is
    /// copied here.
    private func owned(_ picture: I420Picture, _ borrowed: SourceFrame) throws(InletError) -> I420Picture {
        guard let top = unsafe borrowed.planes[0]?.topRow, unsafe picture.buffer.baseAddress(of: .y) == top else {
            return picture
        }
        var draft = try pool.makeBuffer(size: borrowed.size)
        for plane in I420Buffer.Plane.allCases {
            let rows = I420Buffer.rows(of: plane, in: borrowed.size)
            let (source, target) = unsafe (picture.buffer.baseAddress(of: plane), draft.mutableBaseAddress(of: plane))
            for row in 0..<rows.height {
                unsafe (target + row * draft.strides[plane]).update(
                    from: source + row * picture.buffer.strides[plane], count: rows.width)
            }
        }
        return I420Picture(buffer: draft.publish(), colorSpace: picture.colorSpace)
    }
}

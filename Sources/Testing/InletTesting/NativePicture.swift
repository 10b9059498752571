import InletCore

// Unsafe: reads the planes of a scripted picture.
/// The required planes of a pixel format, computed independently of the conversion library.
enum NativePicture {
    /// Returns the bytes per row and the rows of each plane; nil for an unknown format.
    static func planes(of format: PixelFormat, size: ImageSize) -> [ImageSize]? {
        func plane(_ width: Int, _ height: Int) -> ImageSize { ImageSize(width: width, height: height) }
        let full = size
        let chroma = size.chroma
        switch format {
        case .yuv420p, .yuvj420p: return [full, chroma, chroma]
        case .yuv422p: return [full, plane(chroma.width, size.height), plane(chroma.width, size.height)]
        case .yuv444p: return [full, full, full]
        case .nv12, .nv21: return [full, plane(2 * chroma.width, chroma.height)]
        case .yuyv422, .uyvy422: return [plane(4 * chroma.width, size.height)]
        case .bgra, .rgba: return [plane(4 * size.width, size.height)]
        case .bgr24, .rgb24: return [plane(3 * size.width, size.height)]
        case .gray: return [full]
        default: return nil
        }
    }

    /// Returns the defect of the frame's memory, or nil. For an unknown format, only the first plane's rows are
    /// counted.
    static func defect(of frame: SourceFrame) -> String? {
        guard frame.size.isValid else { return "a picture of \(frame.size) pixels cannot exist" }
        let expected =
            planes(of: frame.pixelFormat, size: frame.size) ?? [ImageSize(width: 1, height: frame.size.height)]
        for (index, rows) in expected.enumerated() {
            guard let plane = frame.planes[index] else {
                return "\(frame.pixelFormat) has \(expected.count) planes, but the frame has \(frame.planes.count)"
            }
            guard plane.holds(rows: rows.height, of: rows.width) else {
                return """
                    plane \(index) of a \(frame.size) \(frame.pixelFormat) picture takes \(rows.height) rows of \(rows.width) \
                    bytes; \(plane.byteCount) bytes with a stride of \(plane.stride) from \(plane.offset) do not hold them
                    """
            }
        }
        return nil
    }

    /// Returns a number that depends on every pixel: FNV-1a over the rows, without their padding.
    ///
    /// - Precondition: ``defect(of:)`` is nil.
    static func checksum(of frame: SourceFrame) -> UInt64 {
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        let expected =
            planes(of: frame.pixelFormat, size: frame.size) ?? [ImageSize(width: 1, height: frame.size.height)]
        for (index, rows) in expected.enumerated() {
            guard let plane = frame.planes[index], let top = unsafe plane.topRow else { continue }
            for row in 0..<rows.height {
                let start = unsafe top + row * plane.stride
                for column in 0..<rows.width {
                    sum = (sum ^ UInt64(unsafe start[column])) &* 0x100_0000_01B3
                }
            }
        }
        return withExtendedLifetime(frame.owner) { sum }
    }
}

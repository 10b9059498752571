import InletConvert
import InletCore
import Testing

/// Inconsistent planes are refused before anything reads them.
struct PlaneCheckTests {
    static let formats = [
        "yuv420p", "yuvj420p", "nv12", "nv21", "yuyv422", "uyvy422", "bgra", "rgba", "rgb24", "bgr24", "yuv422p10le",
        "pal8",
        "gbrap", "monow", "bayer_rggb8",
    ]
    static let size = ImageSize(width: 34, height: 18)
    private let pool = I420BufferPool(capacity: 1)

    @Test("A plane one byte too short is malformed data", arguments: formats, [1, -1])
    func refusesShortPlanes(format: String, direction: Int) throws {
        let picture = NativePicture(noise: format, Self.size)
        for short in picture.extents.indices {
            try expect(.malformedData, picture) { index, extent in
                let isShort = index == short
                let offset = direction < 0 && !extent.isPalette ? extent.rowBytes * (extent.rows - 1) : 0
                let count = extent.rowBytes * extent.rows - (isShort ? 1 : 0)
                return (count, offset, direction * extent.rowBytes)
            }
        }
    }

    @Test("A missing plane is malformed data", arguments: formats)
    func refusesMissingPlanes(format: String) throws {
        let picture = NativePicture(noise: format, Self.size)
        let last = picture.extents.count - 1
        try expect(.malformedData, picture) { index, extent in
            index == last ? nil : (extent.rowBytes * extent.rows, 0, extent.rowBytes)
        }
    }

    @Test(
        "A stride shorter than a row, over 32 bits, or outside the memory is malformed data", arguments: formats,
        [-1, 1 << 33, .max, .min])
    func refusesBadStrides(format: String, stride: Int) throws {
        let picture = NativePicture(noise: format, Self.size)
        try expect(.malformedData, picture) { index, extent in
            let isShort = index == 0
            return (
                extent.rowBytes * extent.rows, 0,
                isShort ? (stride == -1 ? extent.rowBytes - 1 : stride) : extent.rowBytes
            )
        }
    }

    @Test("A top row outside the memory is malformed data", arguments: formats, [-1, 1 << 40, .max])
    func refusesBadOffsets(format: String, offset: Int) throws {
        let picture = NativePicture(noise: format, Self.size)
        try expect(.malformedData, picture) { index, extent in
            (extent.rowBytes * extent.rows, index == 0 ? offset : 0, extent.rowBytes)
        }
    }

    @Test(
        "An impossible size is an invalid configuration", arguments: formats,
        [(0, 0), (0, 16), (16, 0), (-2, 16), (16, -2), (32_770, 16), (.max, .max)])
    func refusesBadSizes(format: String, size: (Int, Int)) throws {
        var frame = try NativePicture(noise: format, Self.size).frame()
        frame.size = ImageSize(width: size.0, height: size.1)
        let error = #expect(throws: InletError.self) { try FrameConverter().i420(from: frame, pool: pool) }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test("The error names the plane, the format and the frame")
    func explains() throws {
        var frame = try NativePicture(noise: "nv12", Self.size).frame(.guarded)
        frame.sequence = 42
        frame.size.height += 2
        let error = #expect(throws: InletError.self) { try FrameConverter().i420(from: frame, pool: pool) }
        #expect(error?.context.sequence == 42)
        #expect(error?.message.contains("Plane 0 of a 34x20 nv12 picture") == true)
    }

    @Test("A name that libavutil does not know is unsupported")
    func refusesUnknownFormats() throws {
        var frame = try NativePicture(noise: "nv12", Self.size).frame()
        frame.pixelFormat = PixelFormat("nv1234")
        let error = #expect(throws: InletError.self) { try FrameConverter().i420(from: frame, pool: pool) }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("nv1234") == true)
    }

    /// Converts a frame whose planes have the count of bytes, offset and stride that `shape` gives, or are left out.
    private func expect(
        _ code: InletError.Code, _ picture: NativePicture,
        shape: (Int, NativePicture.Extent) -> (count: Int, offset: Int, stride: Int)?
    ) throws {
        let memory = PlaneMemory()
        var frame = try picture.frame()
        frame.owner = memory
        frame.planes = SourcePlanes()
        for (index, extent) in picture.extents.enumerated() {
            guard let (count, offset, stride) = shape(index, extent) else { continue }
            let block = unsafe try memory.block(count, guarded: true)
            unsafe frame.planes.append(
                SourcePlane(UnsafeRawBufferPointer(block), offset: offset, stride: stride))
        }
        let error = #expect(throws: InletError.self, "\(picture.format)") {
            try FrameConverter().i420(from: frame, pool: pool)
        }
        #expect(error?.code == code)
        #expect(pool.statistics.inUse == 0)
    }
}

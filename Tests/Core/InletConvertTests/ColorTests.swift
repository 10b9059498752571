import InletConvert
import InletCore
import Testing

/// The effect of conversion on range and matrix, in the picture and in its stated colours.
struct ColorTests {
    private let converter = FrameConverter()
    private let pool = I420BufferPool(capacity: 1)
    private let source = ColorSpace(primaries: .bt2020, transfer: .pq, matrix: .bt2020, range: .limited)

    @Test(
        "YUV keeps its colour, and yuvj formats are full range",
        arguments: [
            ("yuv420p", ColorRange.limited), ("nv12", .limited), ("yuyv422", .limited), ("yuv444p10le", .limited),
            ("yuvj420p", .full), ("yuvj422p", .full), ("yuvj444p", .full), ("gray", .limited), ("monow", .full),
        ])
    func keepsYUV(format: String, range: ColorRange) throws {
        var expected = source
        expected.range = range
        #expect(try colorSpace(format, source) == expected)
    }

    @Test("A range that the source leaves open stays unspecified, except that gray is full range")
    func leavesOpen() throws {
        #expect(try colorSpace("yuv422p", .unspecified) == .unspecified)
        #expect(try colorSpace("nv12", .unspecified) == .unspecified)
        #expect(try colorSpace("gray", .unspecified) == ColorSpace(range: .full))
        #expect(try colorSpace("yuvj422p", .unspecified) == ColorSpace(range: .full))
    }

    @Test(
        "RGB becomes BT.601 with limited range, and keeps its primaries and transfer",
        arguments: ["bgra", "rgba", "rgb24", "bgr24", "rgb565le", "gbrp10le", "pal8", "rgb8", "bayer_rggb8", "xyz12le"])
    func changesRGB(format: String) throws {
        var full = source
        full.range = .full
        full.matrix = .identity
        var expected = source
        expected.matrix = .smpte170m
        #expect(try colorSpace(format, full) == expected)
    }

    @Test(
        "No range is compressed or expanded: 8-bit luma is unchanged, with any chroma and range",
        arguments: [
            "yuvj422p", "yuvj444p", "yuv422p", "yuv444p", "yuvj440p", "yuv411p", "nv24", "yvyu422", "gray", "ya8",
        ],
        [ColorRange.unspecified, .limited, .full])
    func keepsLuma(format: String, range: ColorRange) throws {
        let size = ImageSize(width: 256, height: 4)
        var picture = NativePicture(noise: format, size)
        // Each row of luma contains all values.
        let step = picture.extents[0].rowBytes / size.width
        for index in 0..<size.width * size.height { picture.bytes[index * step] = UInt8(index % 256) }
        let frame = try picture.frame(colorSpace: ColorSpace(range: range))
        let result = try converter.i420(from: frame, pool: pool)
        expectSame(result.buffer.packed(.y), (0..<1024).map { UInt8($0 % 256) })
    }

    @Test(
        "Ten bits become eight by the range's own scale",
        arguments: ["yuv420p10le", "yuv422p10le", "yuv444p10le", "gray10le"], [ColorRange.limited, .full])
    func scalesDeepLuma(format: String, range: ColorRange) throws {
        let size = ImageSize(width: 64, height: 4)
        var picture = NativePicture(format: format, size: size)
        // Black and white of each range.
        let levels = range == .full ? [0, 1023] : [64, 940]
        for index in 0..<size.width * size.height {
            let level = levels[index % 2]
            picture.bytes[2 * index] = UInt8(level & 255)
            picture.bytes[2 * index + 1] = UInt8(level >> 8)
        }
        let frame = try picture.frame(colorSpace: ColorSpace(range: range))
        let result = try converter.i420(from: frame, pool: pool)
        let expected: [UInt8] = range == .full ? [0, 255] : [16, 235]
        #expect(Array(Set(result.buffer.packed(.y))).sorted() == expected)
        #expect(Set(result.buffer.packed(.u)) == [128])
    }

    @Test(
        "The mean of dithered luma is that of ten bits, by the range's own scale",
        arguments: ["yuv420p10le", "gray10le"], [ColorRange.limited, .full])
    func dithersDeepLuma(format: String, range: ColorRange) throws {
        for level in [300, 700, 900] {
            var picture = NativePicture(format: format, size: ImageSize(width: 64, height: 16))
            for index in 0..<64 * 16 {
                picture.bytes[2 * index] = UInt8(level & 255)
                picture.bytes[2 * index + 1] = UInt8(level >> 8)
            }
            let frame = try picture.frame(colorSpace: ColorSpace(range: range))
            let luma = try converter.i420(from: frame, pool: pool).buffer.packed(.y)
            let mean = Double(luma.reduce(0) { $0 + Int($1) }) / Double(luma.count)
            let scale = range == .full ? 255.0 / 1023 : 1.0 / 4
            #expect(abs(mean - Double(level) * scale) < 0.1, "\(level)")
        }
    }

    private func colorSpace(_ format: String, _ colorSpace: ColorSpace) throws -> ColorSpace {
        let picture = NativePicture(noise: format, ImageSize(width: 8, height: 8))
        return try converter.i420(from: picture.frame(colorSpace: colorSpace), pool: pool).colorSpace
    }
}

extension NativePicture {
    /// A picture of 16-bit samples with 10 bits, all 512: gray in luma, none in chroma.
    fileprivate init(format: String, size: ImageSize) {
        self.init(noise: format, size)
        for index in bytes.indices { bytes[index] = index % 2 == 0 ? 0 : 2 }
    }
}

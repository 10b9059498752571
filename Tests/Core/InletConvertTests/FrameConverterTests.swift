import InletConvert
import InletCore
import ReferenceTools
import Testing

@Suite(.blocking) struct FrameConverterTests {
    static let sizes = [
        ImageSize(width: 64, height: 48), ImageSize(width: 129, height: 67), ImageSize(width: 18, height: 5),
        ImageSize(width: 3, height: 2), ImageSize(width: 1, height: 1),
    ]
    private let converter = FrameConverter()
    private let pool = I420BufferPool(capacity: 4)

    @Test(
        "A picture that is already I420 is wrapped: same memory, same owner",
        arguments: ["yuv420p", "yuvj420p", "yuva420p"])
    func wrapsWithoutCopy(format: String) throws {
        let picture = NativePicture(noise: format, ImageSize(width: 33, height: 17))
        var frame: SourceFrame? = try picture.frame()
        let owner = WeakOwner(frame?.owner)
        let addresses = try #require(frame).planeAddresses
        var buffer: I420Buffer? = try converter.i420(from: #require(frame), pool: pool).buffer
        for plane in I420Buffer.Plane.allCases {
            let address = buffer.map { unsafe UInt(bitPattern: $0.baseAddress(of: plane)) }
            #expect(address == addresses[plane.rawValue])
            #expect(buffer?.strides[plane] == frame?.planes[plane.rawValue]?.stride)
        }
        expectSame(try #require(buffer).packed, Array(picture.bytes.prefix(picture.size.packedI420ByteCount)))
        #expect(pool.statistics.allocations == 0)
        frame = nil
        #expect(owner.isAlive)
        buffer = nil
        #expect(!owner.isAlive)
    }

    @Test("A bottom-up yuv420p picture is copied the right way up", arguments: sizes)
    func copiesBottomUp(size: ImageSize) throws {
        let picture = NativePicture(noise: "yuv420p", size)
        let result = try converter.i420(from: picture.frame(.bottomUp), pool: pool)
        expectSame(result.buffer.packed, picture.bytes)
    }

    @Test(
        "NV12 and NV21 keep each sample", arguments: ["nv12", "nv21"],
        sizes)
    func separatesChroma(format: String, size: ImageSize) throws {
        let picture = NativePicture(noise: format, size)
        let luma = size.width * size.height
        let chroma = picture.bytes[luma...]
        let even = chroma.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        let odd = chroma.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        let expected = picture.bytes.prefix(luma) + (format == "nv12" ? even + odd : odd + even)
        for layout in NativePicture.Layout.allCases {
            let result = try converter.i420(from: picture.frame(layout), pool: pool)
            expectSame(result.buffer.packed, Array(expected), "\(layout)")
        }
    }

    @Test(
        "YUYV and UYVY keep luma and halve the rows of chroma by their mean", arguments: ["yuyv422", "uyvy422"], sizes)
    func unpacks(format: String, size: ImageSize) throws {
        let picture = NativePicture(noise: format, size)
        let rowBytes = 4 * size.chroma.width
        let lumaOffset = format == "yuyv422" ? 0 : 1
        func sample(_ row: Int, _ offset: Int) -> Int { Int(picture.bytes[row * rowBytes + offset]) }
        var expected: [UInt8] = []
        for row in 0..<size.height {
            for column in 0..<size.width { expected.append(UInt8(sample(row, 2 * column + lumaOffset))) }
        }
        for component in [0, 2] {
            for row in 0..<size.chroma.height {
                let below = min(2 * row + 1, size.height - 1)
                for column in 0..<size.chroma.width {
                    let offset = 4 * column + component + 1 - lumaOffset
                    expected.append(UInt8((sample(2 * row, offset) + sample(below, offset) + 1) / 2))
                }
            }
        }
        for layout in NativePicture.Layout.allCases {
            let result = try converter.i420(from: picture.frame(layout), pool: pool)
            expectSame(result.buffer.packed, expected, "\(layout)")
        }
    }

    @Test(
        "Planar YUV with more chroma than I420 keeps luma, and its chroma is the mean of the samples it covers",
        arguments: ["yuv422p", "yuvj422p", "yuva422p", "yuv444p", "yuvj444p", "yuva444p", "yuv440p", "yuvj440p"], sizes)
    func takesMeanOfChroma(format: String, size: ImageSize) throws {
        let picture = NativePicture(noise: format, size)
        var expected = Array(picture.bytes.prefix(size.width * size.height))
        for extent in picture.extents[1...2] {
            let (columns, rows) = (extent.rowBytes, extent.rows)
            func covered(_ index: Int, of count: Int, _ isHalved: Bool) -> [Int] {
                isHalved ? [2 * index, min(2 * index + 1, count - 1)] : [index]
            }
            for row in 0..<size.chroma.height {
                for column in 0..<size.chroma.width {
                    let samples = covered(row, of: rows, !format.contains("440")).flatMap { row in
                        covered(column, of: columns, !format.contains("422")).map { column in
                            Int(picture.bytes[extent.offset + row * columns + column])
                        }
                    }
                    expected.append(UInt8((samples.reduce(0, +) + samples.count / 2) / samples.count))
                }
            }
        }
        for layout in NativePicture.Layout.allCases {
            let result = try converter.i420(from: picture.frame(layout), pool: pool).buffer.packed
            expectSame(result, expected, "\(layout)")
        }
    }

    @Test(
        "The mean of dithered chroma is that of the samples it represents",
        arguments: [
            "yuv420p10le", "yuv422p10le", "yuv444p10le", "yuv440p12le", "yuv422p16le", "yuv444p9le", "p010le", "p210le",
        ])
    func dithersDeepChroma(format: String) throws {
        // Each row and each column has its own level, and the mean of all is known.
        let size = ImageSize(width: 70, height: 38)
        let depth =
            format.hasPrefix("p") || format.contains("10")
            ? 10 : format.contains("12") ? 12 : format.contains("16") ? 16 : 9
        let unused = format.hasPrefix("p") ? 6 : 0
        var picture = NativePicture(noise: format, size)
        var mean = 0.0
        var count = 0
        for index in stride(from: 0, to: picture.bytes.count, by: 2) {
            let level = (Int(picture.bytes[index]) | Int(picture.bytes[index + 1]) << 8) & ((1 << depth) - 1)
            let sample = level << unused
            (picture.bytes[index], picture.bytes[index + 1]) = (UInt8(sample & 255), UInt8(sample >> 8))
            guard index >= picture.extents[1].offset else { continue }
            mean += Double(level) / Double(1 << (depth - 8))
            count += 1
        }
        let frame = try picture.frame(colorSpace: ColorSpace(range: .limited))
        let buffer = try converter.i420(from: frame, pool: pool).buffer
        let chroma = buffer.packed(.u) + buffer.packed(.v)
        let result = Double(chroma.reduce(0) { $0 + Int($1) }) / Double(chroma.count)
        // Only the highest levels are cut off at 255.
        #expect(abs(result - mean / Double(count)) < 0.25)
    }

    @Test(
        "RGB by libyuv is within 45 dB of ffmpeg's exact picture, and closer to BT.601 itself",
        arguments: ["testsrc2", "testsrc", "smptebars", "smptehdbars", "mandelbrot", "rgbtestsrc"])
    func convertsRGB(source: String) throws {
        let size = ImageSize(width: 320, height: 240)
        let formats = ["bgra", "rgba", "rgb24", "bgr24"]
        let drawn = try FFmpegCommand.draw(
            "\(source)=size=\(size):rate=1", formats.map { .init(format: $0, size: size, filter: "format=gbrp") })
        let pictures = try zip(formats, drawn).map { try NativePicture($0, size, $1) }
        let expected = try EveryPixelFormatTests.expected(pictures)
        let ideal = try Self.bt601(#require(pictures.first))
        for (picture, expected) in zip(pictures, expected) {
            let result = try converter.i420(from: picture.frame(), pool: pool).buffer.packed
            // ffmpeg halves the rows of chroma by a bicubic filter and libyuv by the mean; only chroma shows that.
            let comparison = PictureComparison(result, expected, size: size)
            #expect(comparison.average >= 45 && comparison.planes[0] >= 50, "\(picture.format): \(comparison)")
            let exactness = PictureComparison(result, ideal, size: size)
            #expect(exactness.worst >= 48, "\(picture.format): \(exactness)")
        }
    }

    /// A bgra picture of even size by the formulas of ITU-R BT.601-7, 2.5, with the chroma of the mean of 2x2 pixels.
    private static func bt601(_ picture: NativePicture) -> [UInt8] {
        let size = picture.size
        func ycbcr(_ x: Int, _ y: Int, _ width: Int) -> [UInt8] {
            func mean(_ component: Int) -> Double {
                var sum = 0
                for row in y..<y + width {
                    for column in x..<x + width {
                        sum += Int(picture.bytes[4 * (row * size.width + column) + component])
                    }
                }
                return Double(sum) / Double(255 * width * width)
            }
            return levels(red: mean(2), green: mean(1), blue: mean(0)).map { UInt8($0.rounded()) }
        }
        let luma = (0..<size.width * size.height).map { ycbcr($0 % size.width, $0 / size.width, 1)[0] }
        let chroma = (0..<size.chroma.width * size.chroma.height).map { index in
            ycbcr(index % size.chroma.width * 2, index / size.chroma.width * 2, 2)
        }
        return luma + chroma.map { $0[1] } + chroma.map { $0[2] }
    }

    /// Limited-range Y, Cb and Cr of components from 0 to 1: ITU-R BT.601-7, 2.5.
    private static func levels(red: Double, green: Double, blue: Double) -> [Double] {
        let luma = 0.299 * red + 0.587 * green + 0.114 * blue
        return [16 + 219 * luma, 128 + 224 * (blue - luma) / 1.772, 128 + 224 * (red - luma) / 1.402]
    }

    @Test(
        "Solid RGB colours become limited-range BT.601",
        arguments: ["bgra", "rgba", "rgb24", "bgr24", "gbrp", "rgb48le"])
    func convertsSolidRGB(format: String) throws {
        let size = ImageSize(width: 4, height: 4)
        for (r, g, b) in [(0, 0, 0), (255, 255, 255), (255, 0, 0), (0, 255, 0), (0, 0, 255), (128, 64, 200)] {
            let colors = ["r": r, "g": g, "b": b, "a": 255]
            let order = format.filter { "rgba".contains($0) }
            let pixel = order.prefix(format.hasSuffix("a") ? 4 : 3).map { UInt8(colors[String($0)] ?? 0) }
            let bytes: [UInt8]
            switch format {
            case "gbrp": bytes = [g, b, r].flatMap { [UInt8](repeating: UInt8($0), count: 16) }
            case "rgb48le": bytes = (0..<16).flatMap { _ in pixel.flatMap { [$0, $0] } }
            default: bytes = (0..<16).flatMap { _ in pixel }
            }
            let result = try converter.i420(from: NativePicture(format, size, bytes).frame(), pool: pool)
            let expected = Self.levels(red: Double(r) / 255, green: Double(g) / 255, blue: Double(b) / 255)
            for plane in I420Buffer.Plane.allCases {
                for sample in result.buffer.packed(plane) {
                    #expect(abs(Double(sample) - expected[plane.rawValue]) <= 1.5, "\(r),\(g),\(b) \(plane)")
                }
            }
        }
    }

    @Test(
        "Each conversion takes its memory from the pool, which stops allocating",
        arguments: ["nv12", "bgra", "yuv444p10le"])
    func reusesMemory(format: String) throws {
        let frame = try NativePicture(noise: format, ImageSize(width: 64, height: 48)).frame()
        var held: [I420Buffer] = []
        for _ in 0..<1000 {
            held.append(try converter.i420(from: frame, pool: pool).buffer)
            if held.count == 3 { held.removeFirst() }
        }
        #expect(pool.statistics.allocations == 3)
        #expect(pool.statistics.inUse == 2)
    }

    @Test(
        "A picture of one row needs no stride",
        arguments: ["yuv420p", "nv12", "bgra", "yuv422p", "gray", "yuv422p10le", "pal8"])
    func acceptsNoStride(format: String) throws {
        let picture = NativePicture(noise: format, ImageSize(width: 20, height: 1))
        let frame = try picture.frame()
        var strideless = frame
        strideless.planes = SourcePlanes()
        for (index, extent) in picture.extents.enumerated() {
            let top = unsafe UnsafeRawBufferPointer(start: frame.planes[index]?.topRow, count: extent.rowBytes)
            unsafe strideless.planes.append(SourcePlane(top, stride: 0))
        }
        let expected = try converter.i420(from: frame, pool: pool).buffer.packed
        expectSame(try converter.i420(from: strideless, pool: pool).buffer.packed, expected)
    }

    @Test("An exhausted pool is a typed error, and a refused frame returns its memory")
    func reportsExhaustion() throws {
        let pool = I420BufferPool(capacity: 1)
        let size = ImageSize(width: 16, height: 16)
        let frame = try NativePicture(noise: "nv12", size).frame()
        var broken = try NativePicture(noise: "yuv422p", size).frame()
        broken.planes = frame.planes
        #expect(throws: InletError.self) { try converter.i420(from: broken, pool: pool) }
        let held = try converter.i420(from: frame, pool: pool)
        let error = #expect(throws: InletError.self) { try converter.i420(from: frame, pool: pool) }
        #expect(error?.code == .resourceExhausted)
        #expect(pool.statistics.inUse == 1)
        withExtendedLifetime(held) {}
    }

    @Test("Simultaneous conversions of many formats have the same results as one by one")
    func convertsConcurrently() async throws {
        // Two pictures of each format: a context used by two threads would mix them.
        let pictures = ["nv12", "bgra", "rgb565le", "gbrp", "yuv444p10le", "yuv410p"].flatMap { format in
            [1, 2].map { NativePicture(noise: format, ImageSize(width: 162, height: 90), seed: $0) }
        }
        let expected = try pictures.map { try converter.i420(from: $0.frame(), pool: pool).buffer.packed }
        let shared = I420BufferPool(capacity: 64)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for task in 0..<16 {
                group.addTask { [converter] in
                    let frames = try pictures.map { try $0.frame() }
                    return try (0..<100).allSatisfy { turn in
                        let index = (task + turn / 8 * 2) % frames.count
                        let result = try converter.i420(from: frames[index], pool: shared)
                        return result.buffer.packed == expected[index]
                    }
                }
            }
            for try await same in group { #expect(same) }
        }
        #expect(shared.statistics.inUse == 0)
    }
}

/// Whether an object still lives, without keeping it alive.
private final class WeakOwner {
    private weak var object: (any AnyObject & Sendable)?
    init(_ object: (any AnyObject & Sendable)?) { self.object = object }
    var isAlive: Bool { object != nil }
}

extension SourceFrame {
    /// The positions of the planes' top rows.
    fileprivate var planeAddresses: [UInt] {
        (0..<planes.count).map { index in unsafe UInt(bitPattern: planes[index]?.topRow) }
    }
}

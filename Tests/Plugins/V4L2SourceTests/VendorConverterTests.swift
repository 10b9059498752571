import InletCore
import InletV4L2
import Testing

@testable import V4L2Source

/// Pictures in each format are made here from its description in `linux/videodev2.h` and the drivers that send it.
@Suite struct VendorConverterTests {
    private static func format(_ code: FourCC) throws -> VendorFormat {
        guard case .vendor(let format) = CaptureLayout.table[code] else {
            throw InletError(.unsupported, "\(code) is not libv4l's")
        }
        return format
    }

    /// The converter's result for a picture, and whether it stayed inside its memory; nil if it refused.
    private static func convert(_ code: FourCC, _ bytes: [UInt8], _ size: ImageSize) throws -> [UInt8]? {
        let format = try format(code)
        let converter = try VendorConverter(code, format, size: size)
        let byteCount = format.layout(size: size).byteCount
        let guardBytes = 4096
        let block = PictureBlock(byteCount: byteCount + guardBytes)
        unsafe block.memory.initializeMemory(as: UInt8.self, repeating: 0xA5)
        guard unsafe bytes.withUnsafeBytes({ unsafe converter.convert($0, to: block) }) else { return nil }
        #expect(
            unsafe block.memory[byteCount..<byteCount + guardBytes].allSatisfy { $0 == 0xA5 },
            "\(code) wrote behind the picture")
        return unsafe [UInt8](block.memory[..<byteCount])
    }

    /// A picture of 4:2:0 in which each byte differs from its neighbours.
    private struct Picture {
        let size: ImageSize
        let y, u, v: [UInt8]

        init(_ size: ImageSize) {
            self.size = size
            var state: UInt32 = 1
            func noise(_ count: Int) -> [UInt8] {
                (0..<count).map { _ in
                    state = state &* 1_664_525 &+ 1_013_904_223
                    return UInt8(truncatingIfNeeded: state >> 24)
                }
            }
            y = noise(size.width * size.height)
            u = noise(size.width * size.height / 4)
            v = noise(size.width * size.height / 4)
        }

        var i420: [UInt8] { y + u + v }
        func luma(_ row: Int) -> ArraySlice<UInt8> { y[row * size.width..<(row + 1) * size.width] }
        func chroma(_ plane: [UInt8], _ row: Int) -> ArraySlice<UInt8> {
            plane[row * size.width / 2..<(row + 1) * size.width / 2]
        }
        func interleaved(_ row: Int) -> [UInt8] { zip(chroma(u, row), chroma(v, row)).flatMap { [$0, $1] } }

        /// The picture as a camera sends it.
        func packed(_ code: FourCC) -> [UInt8] {
            switch code {
            case "HM12": macroblocks
            case "KONI":
                // 256 pixels in the order of the planes, and their chroma.
                stride(from: 0, to: y.count, by: 256).flatMap { block($0) }
            default: (0..<size.height / 2).flatMap { pair(code, $0) }
            }
        }

        private func block(_ start: Int) -> [UInt8] {
            let chroma = start / 4..<start / 4 + 64
            return Array(y[start..<start + 256]) + Array(u[chroma]) + Array(v[chroma])
        }

        /// Two rows.
        private func pair(_ code: FourCC, _ row: Int) -> [UInt8] {
            let (first, second) = (luma(2 * row), luma(2 * row + 1))
            let (u, v) = (chroma(u, row), chroma(v, row))
            // The SPCA chips send signed samples.
            func signed(_ parts: ArraySlice<UInt8>...) -> [UInt8] { parts.flatMap { $0.map { $0 ^ 0x80 } } }
            switch code {
            case "S501": return signed(first, u, second, v)
            case "S505": return signed(first, second, u, v)
            case "S508": return signed(first, u, v, second)
            case "M420": return first + second + interleaved(row)
            default:
                let luma = Array(second)
                var packed = Array(first)
                for (index, (v, u)) in zip(v, u).enumerated() {
                    packed += [v, luma[2 * index], u, luma[2 * index + 1]]
                }
                return packed
            }
        }

        /// Blocks of 16 by 16 bytes, of luma and then of interleaved chroma.
        private var macroblocks: [UInt8] {
            func blocks(_ rows: [[UInt8]]) -> [UInt8] {
                stride(from: 0, to: rows.count, by: 16).flatMap { top in
                    stride(from: 0, to: size.width, by: 16).flatMap { left in
                        (top..<top + 16).flatMap { rows[$0][left..<left + 16] }
                    }
                }
            }
            return blocks((0..<size.height).map { Array(luma($0)) })
                + blocks((0..<size.height / 2).map(interleaved))
        }
    }

    @Test(
        "A format with its own order of 4:2:0 becomes the same I420, byte for byte",
        arguments: [
            ("S501", 176, 144), ("S505", 160, 120), ("S508", 352, 288), ("CITV", 162, 122), ("M420", 162, 122),
            ("KONI", 160, 120), ("HM12", 720, 480), ("HM12", 720, 576),
        ] as [(FourCC, Int, Int)])
    func reordered(code: FourCC, width: Int, height: Int) throws {
        let picture = Picture(ImageSize(width: width, height: height))
        #expect(try Self.convert(code, picture.packed(code), picture.size) == picture.i420)
    }

    @Test("Blocks of the SN9C20x keep their planes separate")
    func blocksOfPlanes() throws {
        // 16 by 8 pixels: 128 bytes of luma, 32 of each chroma.
        let block =
            [UInt8](repeating: 100, count: 128) + [UInt8](repeating: 50, count: 32)
            + [UInt8](repeating: 200, count: 32)
        let bytes = Array(repeatElement(block, count: 20 * 30).joined())
        let size = ImageSize(width: 320, height: 240)
        let expected =
            [UInt8](repeating: 100, count: 76_800) + [UInt8](repeating: 50, count: 19_200)
            + [UInt8](repeating: 200, count: 19_200)
        #expect(try Self.convert("S920", bytes, size) == expected)
    }

    @Test("Grey of 10 bits across bytes loses its lowest two")
    func grey() throws {
        let size = ImageSize(width: 64, height: 32)
        let samples = (0..<size.width * size.height).map { UInt16($0 * 37 % 1024) }
        var bytes: [UInt8] = []
        var (bits, count) = (UInt32(0), UInt32(0))
        for sample in samples {
            bits = bits << 10 | UInt32(sample)
            count += 10
            while count >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: bits >> (count - 8)))
                count -= 8
            }
        }
        let expected = samples.map { UInt8($0 >> 2) } + [UInt8](repeating: 128, count: 1024)
        #expect(try Self.convert("Y10B", bytes, size) == expected)
    }

    @Test(
        "A mosaic of one colour becomes that colour",
        arguments: [("pBAA", "BGGR"), ("pGAA", "GBRG"), ("pgAA", "GRBG"), ("pRAA", "RGGB"), ("S680", "RGGB")]
            as [(FourCC, String)])
    func mosaics(code: FourCC, pattern: String) throws {
        let size = ImageSize(width: 64, height: 32)
        let colours: [Character: UInt8] = ["R": 200, "G": 100, "B": 50]
        let letters = Array(pattern)
        var bytes: [UInt8] = []
        for row in 0..<size.height {
            let samples = (0..<size.width).compactMap { colours[letters[row % 2 * 2 + $0 % 2]] }
            if code == "S680" {
                // All even samples of a row, then all odd ones.
                for parity in 0..<2 { bytes += stride(from: parity, to: size.width, by: 2).map { samples[$0] } }
            } else {
                // The high bits of four samples, and the low ones of all.
                for index in stride(from: 0, to: size.width, by: 4) { bytes += samples[index..<index + 4] + [0x1B] }
            }
        }
        let pixels = Array(repeatElement([200, 100, 50] as [UInt8], count: size.width * size.height).joined())
        #expect(try Self.convert(code, bytes, size) == pixels)
    }

    @Test("A picture that is too short, or of a size that would exceed the converter's memory, is refused")
    func refused() throws {
        let picture = Picture(ImageSize(width: 176, height: 144))
        #expect(try Self.convert("S501", Array(picture.packed("S501").dropLast()), picture.size) == nil)
        for (code, width, height) in [("HM12", 640, 480), ("S501", 184, 144), ("KONI", 162, 120), ("S920", 160, 124)]
            as [(FourCC, UInt32, UInt32)]
        {
            let error = #expect(throws: InletError.self) {
                try CapturePicture(inletFormat(code, width, height, [width], [width * height * 2]))
            }
            #expect(error?.code == .unsupported)
        }
        let accepted = try CapturePicture(inletFormat("S501", 176, 144, [176], [38_016]))
        #expect(accepted.isWhole([38_016]))
        #expect(!accepted.isWhole([38_015]))
    }

    @Test("Formats that libyuv, libswscale or libavcodec read are left to them")
    func others() {
        for code in ["YU12", "NV12", "YUYV", "RGGB", "RG10", "GREY", "MJPG", "JPEG", "RGB3"] as [FourCC] {
            if case .vendor = CaptureLayout.table[code] { Issue.record("\(code) goes to libv4l") }
        }
        #expect(throws: InletError.self) { try Self.format("O511") }
    }
}

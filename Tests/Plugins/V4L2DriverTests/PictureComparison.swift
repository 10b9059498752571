import Foundation
import InletCore
import InletV4L2
import ReferenceTools
import Testing

/// Compares Inlet's pictures from a driver with the `ffmpeg` command's pictures from the bytes that `v4l2-ctl` saw.
enum PictureComparison {
    /// Hue, saturation and value: neither libyuv nor libswscale reads them.
    static let unsupported: Set = ["HSV3", "HSV4"]

    /// The conversion of raw bytes to a format that ffmpeg reads: from V4L2's documents, separate from the plug-in's
    /// own table.
    private enum Reader {
        /// Unchanged, by ffmpeg's name.
        case ffmpeg(String)
        /// Planar with V before U.
        case swapped(String)
        /// Luma with the lower bits cut off: bytes per sample, bits to cut, and whether the high byte comes first.
        case luma(Int, Int, Bool)
        /// One word per pixel: its bytes, high byte first or not, then the lowest bit and number of bits of each of Y,
        /// U, V or G, B, R.
        case word(Int, Bool, [(Int, Int)], isRGB: Bool)
        /// Bytes of 16-bit words moved up by some bits.
        case moved(String, Int)
        /// V Y U Y.
        case vyuy
    }

    private static let readers: [String: Reader] = {
        var readers: [String: Reader] = [
            "VYUY": .vyuy, "GREY": .luma(1, 0, false), "Y10": .luma(2, 2, false), "Y12": .luma(2, 4, false),
            "Y16": .luma(2, 8, false), "Y16-BE": .luma(2, 8, true),
            "BGRH": .word(4, true, [(20, 6), (26, 6), (14, 6)], isRGB: true),
            "Y444": .word(2, false, [(8, 4), (4, 4), (0, 4)], isRGB: false),
            "YUVO": .word(2, false, [(10, 5), (5, 5), (0, 5)], isRGB: false),
            "YUVP": .word(2, false, [(11, 5), (5, 6), (0, 5)], isRGB: false),
        ]
        func add(_ codes: String, _ reader: Reader) {
            for code in codes.split(separator: " ") { readers[String(code)] = reader }
        }
        for (codes, name) in [
            ("YUYV", "yuyv422"), ("UYVY", "uyvy422"), ("YVYU", "yvyu422"), ("422P YM16", "yuv422p"),
            ("YU12 YM12", "yuv420p"),
            ("NV12 NM12", "nv12"), ("NV21 NM21", "nv21"), ("NV24", "nv24"), ("NV42", "nv42"), ("YM24", "yuv444p"),
            ("RGB1", "rgb8"), ("RGBP", "rgb565le"), ("RGBR", "rgb565be"), ("R444 XR12 AR12", "rgb444le"),
            ("XB12 AB12", "bgr444le"),
            ("RGBO XR15 AR15", "rgb555le"), ("XB15 AB15", "bgr555le"), ("RGBQ XR15-BE AR15-BE", "rgb555be"),
            ("RGB3", "rgb24"),
            ("BGR3", "bgr24"), ("RGB4 BX24 BA24", "0rgb"), ("BGR4 XR24 AR24", "bgr0"), ("XB24 AB24", "rgb0"),
            ("RX24 RA24", "0bgr"),
            ("BA81", "bayer_bggr8"), ("GBRG", "bayer_gbrg8"), ("GRBG", "bayer_grbg8"), ("RGGB", "bayer_rggb8"),
            ("BYR2", "bayer_bggr16le"), ("GB16", "bayer_gbrg16le"), ("GR16", "bayer_grbg16le"),
            ("RG16", "bayer_rggb16le"),
        ] { add(codes, .ffmpeg(name)) }
        for (codes, name) in [("YV12 YM21", "yuv420p"), ("YM61", "yuv422p"), ("YM42", "yuv444p")] {
            add(codes, .swapped(name))
        }
        for (mosaic, ten, twelve) in [
            ("bggr", "BG10", "BG12"), ("gbrg", "GB10", "GB12"), ("grbg", "BA10", "BA12"), ("rggb", "RG10", "RG12"),
        ] {
            add(ten, .moved("bayer_\(mosaic)16le", 6))
            add(twelve, .moved("bayer_\(mosaic)16le", 4))
        }
        add("YUV4 AYUV XYUV", .word(4, false, [(8, 8), (16, 8), (24, 8)], isRGB: false))
        add("VUYA VUYX", .word(4, false, [(16, 8), (8, 8), (0, 8)], isRGB: false))
        add("YUVA YUVX", .word(4, false, [(0, 8), (8, 8), (16, 8)], isRGB: false))
        add("RX12 RA12", .word(2, false, [(8, 4), (4, 4), (12, 4)], isRGB: true))
        add("BX12 GA12", .word(2, false, [(8, 4), (12, 4), (4, 4)], isRGB: true))
        add("RX15 RA15", .word(2, false, [(6, 5), (1, 5), (11, 5)], isRGB: true))
        add("BX15 BA15", .word(2, false, [(6, 5), (11, 5), (1, 5)], isRGB: true))
        return readers
    }()

    /// Formats whose chroma is 4:2:0 already.
    private static let exact: Set = ["YU12", "YM12", "YV12", "YM21", "NV12", "NM12", "NV21", "NM21"]

    /// The first is as odd as vivid permits: it offers only even sizes, and rounds lines of chroma to even bytes. A
    /// nightly run has a third, set by `INLET_SIZES`.
    private static let sizes = [(324, 182), (320, 180), (400, 300)].prefix(sizeCount).map {
        ImageSize(width: $0.0, height: $0.1)
    }

    /// The sizes of the pictures of a camera: the second camera has only the first, except in a nightly run.
    static func sizes(of camera: Vivid) -> [ImageSize] {
        camera.bus == Vivid.first.bus || VirtualMachine.sizes != nil ? sizes : Array(sizes.prefix(1))
    }

    private static let sizeCount = VirtualMachine.sizes.flatMap { Int($0) } ?? 2

    /// Checks every pair of files in the folder.
    static func check(_ folder: String) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".i420") }
            .sorted()
        // Nearly 90 formats for each of two cameras.
        let sizeCount = [Vivid.first, .second].reduce(0) { $0 + sizes(of: $1).count }
        #expect(names.count > 83 * sizeCount, "only \(names.count) pictures were taken")
        var worst = (quality: Double.infinity, name: "")
        for file in names {
            let name = String(file.dropLast(5))
            let parts = name.split(separator: "_").map(String.init)
            guard parts.count == 3, let size = ImageSize(optionText: parts[2]) else { continue }
            let actual = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(file)"))
            let raw = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name).raw"))
            let expected = try reference(parts[1], [UInt8](raw), size)
            guard let best = expected.map({ psnr([UInt8](actual), $0) }).max() else {
                Issue.record("there is no reference for \(parts[1])")
                continue
            }
            if exact.contains(parts[1]) {
                #expect(best == .infinity, "\(name): \(best) dB")
            } else {
                #expect(best >= 45, "\(name): \(best) dB")
            }
            if best < worst.quality { worst = (best, name) }
        }
        print("measured: \(names.count) pictures compared, the worst is \(worst.name) with \(worst.quality) dB")
    }

    /// The results of independent converters for a driver's bytes. Two differ in how they reduce chroma, if that is
    /// necessary.
    private static func reference(_ code: String, _ raw: [UInt8], _ size: ImageSize) throws -> [[UInt8]] {
        let pixels = size.width * size.height
        switch readers[code] {
        case nil where ["NV16", "NM16", "NV61", "NM61"].contains(code):
            var planar = Array(raw[..<pixels])
            let chroma = raw[pixels...]
            let isVFirst = code.hasSuffix("61")
            for first in isVFirst ? [1, 0] : [0, 1] {
                planar += stride(from: chroma.startIndex + first, to: chroma.endIndex, by: 2).map { chroma[$0] }
            }
            return try convert(planar, "yuv422p", size)
        case nil: return []
        case .ffmpeg(let name): return try convert(raw, name, size)
        case .swapped(let name):
            let chroma = (raw.count - pixels) / 2
            return try convert(
                Array(raw[..<pixels] + raw[(pixels + chroma)...] + raw[pixels..<pixels + chroma]), name, size)
        case .luma(let bytes, let cut, let isBigEndian):
            let luma = (0..<pixels).map { index -> UInt8 in
                if bytes == 1 { return raw[index] }
                let (low, high) = isBigEndian ? (1, 0) : (0, 1)
                return UInt8(truncatingIfNeeded: (Int(raw[2 * index + low]) | Int(raw[2 * index + high]) << 8) >> cut)
            }
            return [luma + [UInt8](repeating: 128, count: size.packedI420ByteCount - pixels)]
        case .word(let bytes, let isBigEndian, let components, let isRGB):
            var planar: [UInt8] = []
            for (shift, bits) in components {
                for index in 0..<pixels {
                    let word = (0..<bytes).reduce(0) {
                        $0 | Int(raw[index * bytes + $1]) << (8 * (isBigEndian ? bytes - 1 - $1 : $1))
                    }
                    let most = (1 << bits) - 1
                    planar.append(UInt8(((word >> shift) & most) * 255 / most))
                }
            }
            return try convert(planar, isRGB ? "gbrp" : "yuv444p", size)
        case .moved(let name, let shift):
            var moved = raw
            for index in stride(from: 0, to: raw.count - 1, by: 2) {
                let value = (Int(raw[index]) | Int(raw[index + 1]) << 8) << shift
                moved[index] = UInt8(truncatingIfNeeded: value)
                moved[index + 1] = UInt8(truncatingIfNeeded: value >> 8)
            }
            return try convert(moved, name, size)
        case .vyuy:
            var swapped = raw
            for index in stride(from: 0, to: raw.count - 3, by: 4) { swapped.swapAt(index, index + 2) }
            return try convert(swapped, "uyvy422", size)
        }
    }

    private static func convert(_ bytes: [UInt8], _ format: String, _ size: ImageSize) throws -> [[UInt8]] {
        let folder = try TemporaryFolder()
        try Data(bytes).write(to: URL(fileURLWithPath: folder.path("raw")))
        return try ["bicubic", "area"].map { filter in
            [UInt8](
                try ReferenceCommand.ffmpeg([
                    "-f", "rawvideo", "-pixel_format", format, "-video_size", "\(size)", "-i", folder.path("raw"),
                    "-frames:v", "1",
                    "-sws_flags", "\(filter)+accurate_rnd+full_chroma_int", "-pix_fmt", "yuv420p", "-f", "rawvideo",
                    "-",
                ]))
        }
    }

    static func psnr(_ left: [UInt8], _ right: [UInt8]) -> Double {
        guard left.count == right.count, !left.isEmpty else { return 0 }
        var sum = 0
        for index in left.indices {
            let difference = Int(left[index]) - Int(right[index])
            sum += difference * difference
        }
        return sum == 0 ? .infinity : 10 * log10(255 * 255 * Double(left.count) / Double(sum))
    }
}

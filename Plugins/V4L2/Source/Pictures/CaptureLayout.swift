import InletCore
import InletV4L2

/// The way in which the bytes of a V4L2 format become a native picture, or the codec that decodes them.
enum CaptureLayout: Sendable, Hashable {
    /// A picture that the conversion to I420 reads in place.
    case pixels(PixelFormat, Arrangement)
    /// A picture that no library reads directly; it is rewritten once, into the process's memory.
    case repacked(PixelRepacking)
    /// A vendor's format, which libv4l's converter rewrites into the process's memory.
    case vendor(VendorFormat)
    /// Compressed data: packets that are decoded elsewhere.
    case compressed(VideoCodec)

    /// The arrangement of the planes in memory.
    enum Arrangement: Sendable, Hashable {
        case packed
        /// Luma, then two planes of chroma, each `1 << x` times narrower and `1 << y` times lower; V is first if
        /// `isVFirst`.
        case planar(x: Int, y: Int, isVFirst: Bool)
        /// Luma, then one plane of both chroma components, `1 << y` times lower, with rows of `strides` luma rows'
        /// bytes.
        case semiplanar(y: Int, strides: Int)
    }

    /// The readable formats of `linux/videodev2.h`, as documented in
    /// `Documentation/userspace-api/media/v4l/pixfmt-*.rst`.
    ///
    /// Not included: HSV, tiled formats, compressed formats of single vendors, and most of those with samples packed
    /// across bytes.
    static let table: [FourCC: CaptureLayout] = {
        var table: [FourCC: CaptureLayout] = [:]
        func add(_ codes: [FourCC], _ name: String, _ arrangement: Arrangement = .packed) {
            for code in codes { table[code] = .pixels(PixelFormat(name), arrangement) }
        }
        func fields(_ code: FourCC, _ repacking: PixelRepacking) { table[code] = .repacked(repacking) }

        add(["YU12", "YM12"], "yuv420p", .planar(x: 1, y: 1, isVFirst: false))
        add(["YV12", "YM21"], "yuv420p", .planar(x: 1, y: 1, isVFirst: true))
        add(["422P", "YM16"], "yuv422p", .planar(x: 1, y: 0, isVFirst: false))
        add(["YM61"], "yuv422p", .planar(x: 1, y: 0, isVFirst: true))
        add(["YM24"], "yuv444p", .planar(x: 0, y: 0, isVFirst: false))
        add(["YM42"], "yuv444p", .planar(x: 0, y: 0, isVFirst: true))
        add(["411P"], "yuv411p", .planar(x: 2, y: 0, isVFirst: false))
        add(["YUV9"], "yuv410p", .planar(x: 2, y: 2, isVFirst: false))
        add(["YVU9"], "yuv410p", .planar(x: 2, y: 2, isVFirst: true))
        add(["NV12", "NM12"], "nv12", .semiplanar(y: 1, strides: 1))
        add(["NV21", "NM21"], "nv21", .semiplanar(y: 1, strides: 1))
        add(["NV24"], "nv24", .semiplanar(y: 0, strides: 2))
        add(["NV42"], "nv42", .semiplanar(y: 0, strides: 2))
        add(["P010"], "p010le", .semiplanar(y: 1, strides: 1))
        for code in ["NV16", "NM16"] as [FourCC] { fields(code, .splitChroma(isVFirst: false)) }
        for code in ["NV61", "NM61"] as [FourCC] { fields(code, .splitChroma(isVFirst: true)) }
        add(["YUYV"], "yuyv422")
        add(["UYVY"], "uyvy422")
        add(["YVYU"], "yvyu422")
        fields("VYUY", .swappedChroma)
        add(["Y210"], "y210le")

        add(["GREY"], "gray")
        add(["Y10 "], "gray10le")
        add(["Y12 "], "gray12le")
        add(["Y14 "], "gray14le")
        add(["Y16 "], "gray16le")
        add(["Y16 -BE"], "gray16be")

        add(["RGB3"], "rgb24")
        add(["BGR3"], "bgr24")
        // V4L2's X may contain anything, and alpha is ignored in any case.
        add(["BGR4", "XR24", "AR24"], "bgra")
        add(["RGB4", "BX24", "BA24"], "argb")
        add(["XB24", "AB24"], "rgba")
        add(["RX24", "RA24"], "abgr")
        add(["RGB1"], "rgb8")
        add(["RGBP"], "rgb565le")
        add(["RGBR"], "rgb565be")
        add(["RGBO", "XR15", "AR15"], "rgb555le")
        add(["RGBQ", "XR15-BE", "AR15-BE"], "rgb555be")
        add(["XB15", "AB15"], "bgr555le")
        add(["R444", "XR12", "AR12"], "rgb444le")
        add(["XB12", "AB12"], "bgr444le")
        for code in ["RX12", "RA12"] as [FourCC] { fields(code, .rgb(bytes: 2, (12, 4), (8, 4), (4, 4))) }
        for code in ["BX12", "GA12"] as [FourCC] { fields(code, .rgb(bytes: 2, (4, 4), (8, 4), (12, 4))) }
        for code in ["RX15", "RA15"] as [FourCC] { fields(code, .rgb(bytes: 2, (11, 5), (6, 5), (1, 5))) }
        for code in ["BX15", "BA15"] as [FourCC] { fields(code, .rgb(bytes: 2, (1, 5), (6, 5), (11, 5))) }
        fields("BGRH", .rgb(bytes: 4, isBigEndian: true, (14, 6), (20, 6), (26, 6)))

        fields("Y444", .yuv(bytes: 2, (8, 4), (4, 4), (0, 4)))
        fields("YUVO", .yuv(bytes: 2, (10, 5), (5, 5), (0, 5)))
        fields("YUVP", .yuv(bytes: 2, (11, 5), (5, 6), (0, 5)))
        fields("YUV3", .yuv(bytes: 3, (0, 8), (8, 8), (16, 8)))
        for code in ["YUV4", "AYUV", "XYUV"] as [FourCC] { fields(code, .yuv(bytes: 4, (8, 8), (16, 8), (24, 8))) }
        for code in ["VUYA", "VUYX"] as [FourCC] { fields(code, .yuv(bytes: 4, (16, 8), (8, 8), (0, 8))) }
        for code in ["YUVA", "YUVX"] as [FourCC] { fields(code, .yuv(bytes: 4, (0, 8), (8, 8), (16, 8))) }

        add(["BA81"], "bayer_bggr8")
        add(["GBRG"], "bayer_gbrg8")
        add(["GRBG"], "bayer_grbg8")
        add(["RGGB"], "bayer_rggb8")
        add(["BYR2"], "bayer_bggr16le")
        add(["GB16"], "bayer_gbrg16le")
        add(["GR16"], "bayer_grbg16le")
        add(["RG16"], "bayer_rggb16le")
        let mosaics: [(String, [FourCC])] = [
            ("bayer_bggr16le", ["BG10", "BG12", "BG14"]), ("bayer_gbrg16le", ["GB10", "GB12", "GB14"]),
            ("bayer_grbg16le", ["BA10", "BA12", "GR14"]), ("bayer_rggb16le", ["RG10", "RG12", "RG14"]),
        ]
        for (name, codes) in mosaics {
            for (code, shift) in zip(codes, [6, 4, 2]) { fields(code, .widened(PixelFormat(name), shift: shift)) }
        }

        func vendor(
            _ codes: [FourCC], bits: Int, _ output: VendorFormat.Output, _ width: Int, _ height: Int,
            widths: ClosedRange<Int> = 1...Int.max, blockPixels: Int = 1
        ) {
            let unit = ImageSize(width: width, height: height)
            for code in codes {
                table[code] = .vendor(
                    VendorFormat(bits: bits, output: output, unit: unit, widths: widths, blockPixels: blockPixels))
            }
        }
        // The converter moves 8-byte words, and half a row of them is chroma.
        vendor(["S501", "S505", "S508"], bits: 12, .i420, 16, 2)
        vendor(["CITV", "M420"], bits: 12, .i420, 2, 2)
        vendor(["KONI"], bits: 12, .i420, 2, 2, blockPixels: 256)
        vendor(["S920"], bits: 12, .i420, 16, 8)
        // The hardware puts all sizes into rows of 720 pixels, which the converter expects.
        vendor(["HM12"], bits: 12, .i420, 16, 32, widths: 720...720)
        vendor(["Y10B"], bits: 10, .i420, 4, 2)
        vendor(["S680"], bits: 8, .rgb, 2, 2)
        vendor(["pBAA", "pGAA", "pgAA", "pRAA"], bits: 10, .rgb, 4, 2)

        for code in ["MJPG", "JPEG"] as [FourCC] { table[code] = .compressed(.mjpeg) }
        for code in ["H264", "AVC1"] as [FourCC] { table[code] = .compressed(.h264) }
        table["HEVC"] = .compressed(.hevc)
        table["MPG2"] = .compressed(VideoCodec(rawValue: "mpeg2video"))
        table["MPG4"] = .compressed(VideoCodec(rawValue: "mpeg4"))
        table["VP80"] = .compressed(.vp8)
        table["VP90"] = .compressed(.vp9)
        table["dvsd"] = .compressed(VideoCodec(rawValue: "dvvideo"))
        return table
    }()

    /// Returns the cost of converting the format to I420, where lower is cheaper; nil if it cannot be read.
    static func cost(of code: FourCC) -> Int? {
        switch table[code] {
        case nil: nil
        case .compressed(.mjpeg): 4
        case .compressed: 5
        case .repacked: 7
        case .vendor(let format): format.output == .rgb ? 8 : code == "Y10B" ? 9 : 7
        case .pixels(let format, _):
            switch format.name {
            case "yuv420p": 0
            case "nv12", "nv21": 1
            case "yuyv422", "uyvy422": 2
            case "yvyu422", "yuv422p", "yuv444p", "nv24", "nv42", "bgra", "rgba", "rgb24", "bgr24": 3
            // No colour, or less of it than the camera could deliver.
            case let name where name.hasBytePrefix("gray"): 9
            case let name where name.hasBytePrefix("bayer"): 8
            default: 6
            }
        }
    }

    /// Returns the offset and stride of each plane of a picture in contiguous memory, or nil if there is no such
    /// picture.
    static func planes(_ arrangement: Arrangement, bytesPerLine: Int, height: Int) -> [(offset: Int, stride: Int)] {
        switch arrangement {
        case .packed: return [(0, bytesPerLine)]
        case .planar(let x, let y, let isVFirst):
            let stride = bytesPerLine >> x
            let first = bytesPerLine * height
            let second = first + stride * ((height + (1 << y) - 1) >> y)
            return [(0, bytesPerLine), (isVFirst ? second : first, stride), (isVFirst ? first : second, stride)]
        case .semiplanar(_, let strides):
            return [(0, bytesPerLine), (bytesPerLine * height, bytesPerLine * strides)]
        }
    }
}

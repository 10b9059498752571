import CFFmpeg
import InletConvert
import InletCore
import ReferenceTools
import Testing

/// Each format that libavutil names, compared with the `ffmpeg` command.
@Suite(.blocking) struct EveryPixelFormatTests {
    /// The reasons why the unsupported formats are refused.
    static let refused: [String: String] = [
        "uyyvyy411": "libswscale 5.1 cannot read it", "bgr4": "libswscale 5.1 cannot read it",
        "rgb4": "libswscale 5.1 cannot read it", "nv16": "libswscale 5.1 cannot read it",
        "nv20le": "libswscale 5.1 cannot read it", "nv20be": "libswscale 5.1 cannot read it",
        "ayuv64be": "libswscale 5.1 cannot read it", "y210be": "libswscale 5.1 cannot read it",
        "x2rgb10be": "libswscale 5.1 cannot read it", "x2bgr10be": "libswscale 5.1 cannot read it",
    ]

    static var names: [(name: String, isHardware: Bool)] {
        var names: [(String, Bool)] = []
        var next = unsafe av_pix_fmt_desc_next(nil)
        while let descriptor = unsafe next {
            let flags = unsafe Int32(truncatingIfNeeded: descriptor.pointee.flags)
            if let name = unsafe av_get_pix_fmt_name(av_pix_fmt_desc_get_id(descriptor)) {
                names.append((unsafe String(cString: name), flags & AV_PIX_FMT_FLAG_HWACCEL != 0))
            }
            unsafe next = av_pix_fmt_desc_next(descriptor)
        }
        return names
    }

    static let sizes = [
        ImageSize(width: 178, height: 98), ImageSize(width: 97, height: 65),
        ImageSize(width: 33, height: 18), ImageSize(width: 16, height: 7), ImageSize(width: 5, height: 3),
        ImageSize(width: 2, height: 2), ImageSize(width: 1, height: 1),
    ]

    @Test(
        "Every pixel format becomes ffmpeg's picture, in any layout of its rows in memory",
        arguments: sizes)
    func agreesWithFFmpeg(size: ImageSize) throws {
        let pictures = try Self.pictures(of: size)
        let expected = try Self.expected(pictures)
        let converter = FrameConverter()
        let pool = I420BufferPool(capacity: 2)
        for (picture, expected) in zip(pictures, expected) {
            let result = try converter.i420(from: picture.frame(), pool: pool).buffer.packed
            let comparison = PictureComparison(result, expected, size: size)
            #expect(comparison.worst >= 45, "\(picture.format) \(size): \(comparison)")
            for layout in NativePicture.Layout.allCases where layout != .padded {
                let other = try converter.i420(from: picture.frame(layout), pool: pool).buffer.packed
                expectSame(other, result, "\(picture.format) \(size) \(layout)")
            }
        }
    }

    @Test("Each pixel format either has a picture in these tests or is refused for a listed reason")
    func coversEveryFormat() throws {
        let size = ImageSize(width: 32, height: 32)
        let pool = I420BufferPool(capacity: 1)
        let covered = Set(try Self.pictures(of: size).map(\.format))
        for (name, isHardware) in Self.names {
            if covered.contains(name) { continue }
            #expect(isHardware || Self.refused[name] != nil, "\(name) has neither a picture nor a reason")
            let frame = try NativePicture(noise: "yuv420p", size).frame()
            var unconvertible = frame
            unconvertible.pixelFormat = PixelFormat(name)
            let error = #expect(throws: InletError.self) {
                try FrameConverter().i420(from: unconvertible, pool: pool)
            }
            #expect(error?.code == .unsupported && error?.message.contains(name) == true, "\(name)")
        }
    }

    @Test("A Bayer mosaic of odd size is refused, because swscale would read beyond it", arguments: [(7, 8), (8, 7)])
    func refusesPartialCells(width: Int, height: Int) throws {
        let frame = try NativePicture(noise: "bayer_rggb8", ImageSize(width: width, height: height)).frame()
        let error = #expect(throws: InletError.self) {
            try FrameConverter().i420(from: frame, pool: I420BufferPool(capacity: 1))
        }
        #expect(error?.code == .unsupported)
    }

    /// One picture in each format that can be converted to I420 at this size.
    static func pictures(of size: ImageSize) throws -> [NativePicture] {
        let hasWholeCells = size.width % 2 == 0 && size.height % 2 == 0
        let convertible = names.filter { !$0.isHardware && refused[$0.name] == nil }.map(\.name)
            .filter { hasWholeCells || !$0.hasPrefix("bayer") }
        let source = "testsrc2=size=384x288:rate=1:duration=1"
        let crop = "format=gbrp,crop=\(size.width):\(size.height):150:120:exact=1"
        let drawn = try FFmpegCommand.draw(
            source,
            convertible.map { name in
                let filter = "\(crop),scale=\(FFmpegCommand.exact)"
                switch name {
                case "pal8":
                    return .init(
                        format: name, size: size,
                        filter: "\(crop),split[a][b];[a]palettegen[p];[b][p]paletteuse")
                case _ where name.hasPrefix("bayer"):
                    // A mosaic of a gray picture.
                    let gray = name.hasSuffix("16le") ? "gray16le" : name.hasSuffix("16be") ? "gray16be" : "gray"
                    return .init(format: gray, size: size, filter: filter)
                case "y210le": return .init(format: "yuyv422", size: size, filter: filter)
                default: return .init(format: name, size: size, filter: filter)
                }
            })
        return try zip(convertible, drawn).map { name, bytes in
            // ffmpeg cannot write y210le: 10 bits at the top of 16, in the order of yuyv422.
            try NativePicture(name, size, name == "y210le" ? bytes.flatMap { [0, $0] } : bytes)
        }
    }

    /// ffmpeg's conversions of the pictures, with the range of YUV and gray kept.
    static func expected(_ pictures: [NativePicture]) throws -> [[UInt8]] {
        try FFmpegCommand.i420(
            pictures.map { picture in
                let isFullRange = ["yuvj", "gray1", "gray9", "ya"].contains { picture.format.hasPrefix($0) }
                let range = isFullRange || picture.format == "gray" ? ":in_range=pc:out_range=pc" : ""
                let size = picture.size
                let (columns, rows) = missingEdges(picture)
                let source = columns + rows > 0 ? try picture.extended(columns: columns, rows: rows) : picture
                let flags = hasFullChromaRows(picture) ? FFmpegCommand.exactMean : FFmpegCommand.exact
                return .init(
                    format: source.format, size: source.size, bytes: source.bytes,
                    filter: "scale=\(flags)\(range),format=yuv420p,"
                        + "crop=\(size.width):\(size.height):0:0:exact=1")
            })
    }

    /// The columns and rows that a picture of odd size must be given so that swscale treats its edge as the rest.
    ///
    /// Otherwise, swscale pairs the last pixel of an odd row of RGB with the memory after it, leaves out the last row
    /// of chroma of yuyv422, and spreads the chroma of odd widths and heights over one column or row too many, which
    /// shifts it by up to half a pixel.
    private static func missingEdges(_ picture: NativePicture) -> (columns: Int, rows: Int) {
        let columns = picture.size.width % 2
        let rows = picture.size.height % 2
        switch picture.format {
        case "yuyv422", "uyvy422": return (0, rows)
        case "bgra", "rgba", "argb", "abgr", "bgr0", "rgb0", "0rgb", "0bgr", "rgb24", "bgr24", "gbrp", "gbrap":
            return (columns, rows)
        case "rgb8", "bgr8", "rgb4_byte", "bgr4_byte": return (0, 0)
        case _ where isPlanarYUV(picture, "422p"): return (0, rows)
        case _ where isPlanarYUV(picture, "440p"): return (columns, 0)
        case _ where isPlanarYUV(picture, "444p"): return (columns, rows)
        case _ where picture.format.hasPrefix("gbr"): return (0, 0)
        case _ where isRGB(picture.format): return (columns, 0)
        default: return (0, 0)
        }
    }

    /// Whether chroma has a sample for each column, which is halved by the mean as in libyuv; ffmpeg's default is a
    /// bicubic filter.
    private static func hasFullChromaRows(_ picture: NativePicture) -> Bool {
        isPlanarYUV(picture, "440p") || isPlanarYUV(picture, "444p")
    }

    /// Whether the format is planar YUV of this chroma, with or without alpha, with any number of little-endian bits.
    private static func isPlanarYUV(_ picture: NativePicture, _ chroma: String) -> Bool {
        let name = picture.format
        return ["yuv", "yuva", "yuvj"].contains { name.hasPrefix($0 + chroma) } && !name.hasSuffix("be")
    }

    private static func isRGB(_ name: String) -> Bool {
        guard let descriptor = unsafe av_pix_fmt_desc_get(av_get_pix_fmt(name)) else { return false }
        return unsafe Int32(truncatingIfNeeded: descriptor.pointee.flags) & AV_PIX_FMT_FLAG_RGB != 0
            || name.hasPrefix("xyz")
    }
}

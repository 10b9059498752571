import FFmpegSink
import Foundation
import InletCore
import ReferenceTools
import Testing

/// Colours as a viewer sees them: bars of known red, green and blue, recorded and converted back by the ffmpeg command.
@Suite(.tags(.encoder), .blocking) struct ColorTests {
    private static let colors: [[Double]] = [
        [191, 191, 191], [191, 191, 0], [0, 191, 191], [0, 191, 0], [191, 0, 191], [191, 0, 0], [0, 0, 191],
        [255, 255, 255],
    ]
    private static let size = ImageSize(width: 256, height: 64)

    struct Case: CustomTestStringConvertible, Sendable {
        var codec: VideoCodec
        var space: ColorSpace
        var testDescription: String { "\(codec), matrix \(space.matrix.rawValue), \(space.range.rawValue)" }
    }

    static let cases: [Case] = FFmpegVideoEncoder.codecs.flatMap { codec in
        [ColorSpace.bt601, .bt709].flatMap { space in
            [ColorRange.limited, .full].map { range in
                var space = space
                space.range = range
                return Case(codec: codec, space: space)
            }
        }
    }

    /// ITU-T H.273, equations 38 to 43, with 8 bits.
    private static func bars(_ space: ColorSpace, _ size: ImageSize = size) throws -> ReferencePictures {
        let (kr, kb) = space.matrix == .bt709 ? (0.2126, 0.0722) : (0.299, 0.114)
        let samples = colors.map { color -> [UInt8] in
            let (r, g, b) = (color[0] / 255, color[1] / 255, color[2] / 255)
            let y = kr * r + (1 - kr - kb) * g + kb * b
            let (cb, cr) = ((b - y) / (2 * (1 - kb)), (r - y) / (2 * (1 - kr)))
            let full = space.range == .full
            return [
                full ? 255 * y : 219 * y + 16, (full ? 255 : 224) * cb + 128, (full ? 255 : 224) * cr + 128,
            ].map { UInt8(max(0, min(255, $0.rounded()))) }
        }
        var picture = Data()
        for (plane, size) in [size, size.chroma, size.chroma].enumerated() {
            for _ in 0..<size.height {
                for column in 0..<size.width { picture.append(samples[column * samples.count / size.width][plane]) }
            }
        }
        return ReferencePictures(picture + picture + picture, size: size)
    }

    @Test("Bars are restored within two levels", arguments: cases)
    func bars(_ each: Case) throws {
        let folder = try TemporaryFolder()
        let container = [.vp8, .ffv1].contains(each.codec) ? "mkv" : "mp4"
        let path = folder.path("bars.\(container)")
        let quality = each.codec == .ffv1 ? "" : "&quality=95"
        try Recording.write(
            Self.bars(each.space), to: "\(container):\(path)?codec=\(each.codec)\(quality)", color: each.space)
        // Every reader regards a JPEG or VP8 picture as BT.601.
        let isOnly601 = [.mjpeg, .vp8].contains(each.codec)
        let matrix = each.space.matrix == .bt709 && !isOnly601 ? "bt709" : "bt601"
        // The colours stated by the file, which players use. The conversion gets the same.
        let tags = try Recording.probe(path, "stream=color_range,color_space").first ?? ""
        switch each.codec {
        case .mjpeg: #expect(tags.hasPrefix("pc"))
        case .vp8: #expect(tags == "tv,smpte170m")
        default:
            #expect(tags == "\(each.space.range.rawValue),\(each.space.matrix == .bt709 ? "bt709" : "smpte170m")")
        }
        let range = tags.hasPrefix("pc") ? "full" : "limited"
        try Self.expectBars(path, matrix: matrix, range: range)
    }

    @Test(
        "Pictures of unspecified colours get those that players assume, if a compression has its own colours",
        arguments: [VideoCodec.mjpeg, .vp8], [false, true])
    func silent(_ codec: VideoCodec, isLarge: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("bars.mkv")
        let size = isLarge ? ImageSize(width: 1280, height: 64) : Self.size
        try Recording.write(
            Self.bars(isLarge ? .bt709 : .bt601, size), to: "mkv:\(path)?codec=\(codec)&quality=95", color: .unspecified
        )
        try Self.expectBars(path, size, matrix: "bt601", range: codec == .mjpeg ? "full" : "limited")
    }

    /// Expects that ffmpeg finds the bars when it is given the colours.
    private static func expectBars(_ path: String, _ size: ImageSize = size, matrix: String, range: String) throws {
        let rgb = try ReferenceCommand.ffmpeg([
            "-i", path, "-frames:v", "1", "-vf",
            "scale=in_color_matrix=\(matrix):in_range=\(range):out_range=full:flags=accurate_rnd+full_chroma_int+bitexact",
            "-pix_fmt", "rgb24", "-f", "rawvideo", "-",
        ])
        try #require(rgb.count == size.width * size.height * 3)
        let width = size.width / colors.count
        for (index, color) in colors.enumerated() {
            let position = (size.height / 2 * size.width + index * width + width / 2) * 3
            let seen = rgb[position..<position + 3].map(Double.init)
            for (seen, expected) in zip(seen, color) { #expect(abs(seen - expected) <= 2, "bar \(index): \(seen)") }
        }
    }
}

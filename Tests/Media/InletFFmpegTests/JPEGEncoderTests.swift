import Foundation
import InletCore
import ReferenceTools
import Testing

@testable import InletFFmpeg

@Suite(.blocking) struct JPEGEncoderTests {
    /// A range and a matrix, in terms of H.273 and of ffmpeg's scale filter.
    struct Colors: Sendable, CustomTestStringConvertible {
        var range: ColorRange
        var matrix: ColorMatrix
        var filter: String
        /// The side of each colour's square.
        var side = 32

        var colorSpace: ColorSpace { ColorSpace(matrix: matrix, range: range) }
        var testDescription: String { filter }

        static let all = [
            Colors(range: .full, matrix: .smpte170m, filter: "out_range=pc:out_color_matrix=bt601"),
            Colors(range: .limited, matrix: .smpte170m, filter: "out_range=tv:out_color_matrix=bt601"),
            Colors(range: .unspecified, matrix: .unspecified, filter: "out_range=tv:out_color_matrix=bt601"),
            Colors(range: .full, matrix: .bt709, filter: "out_range=pc:out_color_matrix=bt709"),
            Colors(range: .limited, matrix: .bt709, filter: "out_range=tv:out_color_matrix=bt709"),
            Colors(range: .unspecified, matrix: .unspecified, filter: "out_range=tv:out_color_matrix=bt709", side: 128),
            Colors(range: .limited, matrix: .bt2020, filter: "out_range=tv:out_color_matrix=bt2020"),
            Colors(range: .limited, matrix: .smpte240m, filter: "out_range=tv:out_color_matrix=smpte240m"),
        ]
    }

    private static func pictures(_ graph: String, _ size: ImageSize, _ colors: Colors, frames: Int = 1) throws
        -> ReferencePictures
    {
        try ReferencePictures(
            lavfi: "\(graph),format=gbrp,scale=flags=accurate_rnd+full_chroma_int:\(colors.filter),format=yuv420p",
            size: size, frames: frames)
    }

    private static func encode(_ encoder: JPEGEncoder, _ picture: I420Buffer, _ colorSpace: ColorSpace) throws -> Data {
        try encoder.encode(picture, colorSpace: colorSpace) { bytes in
            unsafe bytes.withUnsafeBytes { unsafe Data($0) }
        }
    }

    /// ffmpeg's decoding of a JPEG.
    private static func decode(_ jpeg: Data, as pixelFormat: String) throws -> Data {
        let folder = try TemporaryFolder()
        try jpeg.write(to: URL(fileURLWithPath: folder.path("a.jpg")))
        return try ReferenceCommand.ffmpeg([
            "-f", "mjpeg", "-i", folder.path("a.jpg"), "-sws_flags", "accurate_rnd+full_chroma_int", "-pix_fmt",
            pixelFormat, "-f", "rawvideo", "-",
        ])
    }

    private static func psnr(_ a: Data, _ b: Data) -> Double {
        let squares = zip(a, b).reduce(0.0) { $0 + Double((Int($1.0) - Int($1.1)) * (Int($1.0) - Int($1.1))) }
        return squares == 0 ? .infinity : 10 * log10(255 * 255 * Double(a.count) / squares)
    }

    @Test(
        "At quality 90, ffmpeg decodes a picture with at least 38 dB, of even and odd sizes",
        arguments: [(320, 240), (321, 241), (1279, 719), (17, 33), (16, 16), (3, 2), (1, 1)])
    func fidelity(width: Int, height: Int) throws {
        let size = ImageSize(width: width, height: height)
        let source = try Self.pictures(
            "testsrc2=size=\(max(width, 64))x\(max(height, 64)),crop=\(width):\(height):0:0:exact=1", size, .all[0])
        let encoder = JPEGEncoder(quality: 90)
        for picture in [try source.packed(0), try source.padded(0)] {
            let jpeg = try Self.encode(encoder, picture, Colors.all[0].colorSpace)
            let decoded = try Self.decode(jpeg, as: "yuvj420p")
            try #require(decoded.count == source.bytes.count)
            #expect(Self.psnr(decoded, source.bytes) >= 38)
        }
    }

    @Test("A picture of any range and matrix is shown in the right colours", arguments: Colors.all)
    func colors(_ colors: Colors) throws {
        let shown: [UInt32] = [
            0x000000, 0xFFFFFF, 0xFF0000, 0x00FF00, 0x0000FF, 0xC08040, 0x308090, 0x808080, 0x804060, 0xFFFF00,
        ]
        let side = colors.side
        let inputs = shown.enumerated().map {
            "color=0x\(String(format: "%06X", $1)):size=\(side)x\(side)[c\($0)]"
        }
        let graph =
            inputs.joined(separator: ";") + ";" + shown.indices.map { "[c\($0)]" }.joined()
            + "hstack=inputs=\(shown.count)"
        let size = ImageSize(width: side * shown.count, height: side)
        let source = try Self.pictures(graph, size, colors)
        let jpeg = try Self.encode(JPEGEncoder(quality: 100), source.padded(0), colors.colorSpace)
        let rgb = try Self.decode(jpeg, as: "rgb24")
        try #require(rgb.count == size.width * size.height * 3)
        for (index, color) in shown.enumerated() {
            // The middle of each square, which neighbouring chroma does not reach.
            let position = rgb.startIndex + (side / 2 * size.width + side * index + side / 2) * 3
            for (channel, shift) in [UInt32(16), 8, 0].enumerated() {
                let expected = Int(color >> shift & 0xFF)
                #expect(
                    abs(Int(rgb[position + channel]) - expected) <= 3,
                    "channel \(channel) of \(String(color, radix: 16)) is \(rgb[position + channel])")
            }
        }
    }

    @Test("A limited-range picture matches ffmpeg's full-range one, with at least 38 dB")
    func limitedPicture() throws {
        let size = ImageSize(width: 321, height: 241)
        let expected = try Self.pictures("testsrc2=size=321x241", size, .all[0])
        for colors in Colors.all where colors.side == 32 {
            let source = try Self.pictures("testsrc2=size=321x241", size, colors)
            let jpeg = try Self.encode(JPEGEncoder(quality: 90), source.padded(0), colors.colorSpace)
            #expect(try Self.psnr(Self.decode(jpeg, as: "yuvj420p"), expected.bytes) >= 38, "\(colors.filter)")
        }
    }

    @Test("A lower quality takes fewer bytes, and has libjpeg's scale")
    func quality() throws {
        let source = try Self.pictures("testsrc2=size=320x240", ImageSize(width: 320, height: 240), .all[0])
        let counts = try [10, 25, 50, 75, 90, 100].map { quality in
            try Self.encode(JPEGEncoder(quality: quality), source.packed(0), Colors.all[0].colorSpace).count
        }
        #expect(counts == counts.sorted() && Set(counts).count == counts.count, "\(counts)")
        let scales = [
            (0, 31), (1, 31), (12, 31), (13, 31), (25, 16), (50, 8), (75, 4), (90, 2), (94, 1), (100, 1), (200, 1),
        ]
        for (quality, scale) in scales { #expect(JPEGEncoder.scale(quality: quality) == Int32(scale), "\(quality)") }
    }

    @Test("A picture leaves no trace in the next one, even if the size changes, and none is kept")
    func sequence() throws {
        let encoder = JPEGEncoder()
        let colors = Colors.all[0]
        for size in [
            ImageSize(width: 64, height: 48), ImageSize(width: 65, height: 47), ImageSize(width: 64, height: 48),
        ] {
            let source = try Self.pictures("testsrc2=size=\(size.width)x\(size.height)", size, colors, frames: 3)
            for index in 0..<source.count {
                weak var held: I420Buffer?
                let jpeg: Data
                do {
                    let picture = try source.packed(index)
                    held = picture
                    jpeg = try Self.encode(encoder, picture, colors.colorSpace)
                }
                #expect(held == nil)
                #expect(jpeg == (try Self.encode(JPEGEncoder(), source.padded(index), colors.colorSpace)))
                #expect(jpeg.prefix(4).elementsEqual([0xFF, 0xD8, 0xFF, 0xE0]), "it begins with JFIF's header")
                #expect(jpeg.suffix(2).elementsEqual([0xFF, 0xD9]))
            }
        }
    }

    @Test("The caller's error is rethrown, and the encoder remains usable")
    func callerThrows() throws {
        let encoder = JPEGEncoder()
        let picture = try I420Draft(size: ImageSize(width: 16, height: 16)).publish()
        #expect(throws: InletError.self) {
            try encoder.encode(picture, colorSpace: .unspecified) { _ throws(InletError) -> Void in
                throw InletError(.cancelled, "enough")
            }
        }
        #expect(try !Self.encode(encoder, picture, .unspecified).isEmpty)
    }
}

import Foundation
import InletCore
import ReferenceTools
import Testing

@testable import InletCapture

@Suite(.blocking) struct FrameAdaptationTests {
    private func adapt(
        _ wants: SinkWants, _ width: Int, _ height: Int, rotation: Rotation = .none, pixels: Rational? = nil
    ) throws -> (FrameAdaptation, PictureShape) {
        let picture = PictureShape(
            size: ImageSize(width: width, height: height), rotation: rotation, sampleAspectRatio: pixels)
        return (try FrameAdaptation(wants, to: picture), picture)
    }

    /// The size and sample aspect ratio that ffmpeg gives a picture.
    private func ffprobe(_ graph: String) throws -> String {
        let output = try ReferenceCommand.run(
            "ffprobe",
            [
                "-v", "error", "-f", "lavfi", "-i", graph, "-show_entries",
                "stream=width,height,sample_aspect_ratio", "-of", "csv=p=0",
            ])
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test(
        "A larger picture is fitted within a size as by ffmpeg's scale filter, with its pixel aspect ratio",
        arguments: [
            (1920, 1080, 640, 480), (1080, 1920, 640, 480), (1921, 1081, 640, 640), (720, 576, 333, 333),
            (640, 480, 639, 479),
        ])
    func fits(width: Int, height: Int, most: Int, high: Int) throws {
        let wants = SinkWants(largestSize: ImageSize(width: most, height: high))
        let (adaptation, picture) = try adapt(wants, width, height, pixels: Rational(16, 15))
        let ratio = try #require(adaptation.sampleAspectRatio(of: picture))
        let expected = try ffprobe(
            """
            testsrc=size=\(width)x\(height):rate=1:duration=1,setsar=16/15,\
            scale=\(most):\(high):force_original_aspect_ratio=decrease:force_divisible_by=2
            """)
        let size = adaptation.size
        #expect("\(size.width),\(size.height),\(ratio.numerator):\(ratio.denominator)" == expected)
    }

    @Test(
        "A picture is made wider or higher until its pixels are square, as by ffmpeg's scale filter",
        arguments: [
            (720, 576, Rational(16, 15)), (704, 480, Rational(10, 11)), (160, 240, Rational(2)),
            (1440, 1080, Rational(4, 3)), (721, 577, Rational(12, 11)),
        ])
    func squares(width: Int, height: Int, pixels: Rational) throws {
        let (adaptation, picture) = try adapt(SinkWants(squarePixels: true), width, height, pixels: pixels)
        #expect(adaptation.sampleAspectRatio(of: picture) == Rational(1))
        let scale =
            pixels > Rational(1) ? "scale=2*round(iw*sar/2):ih" : "scale=iw:2*round(ih/sar/2)"
        let expected = try ffprobe("testsrc=size=\(width)x\(height):rate=1:duration=1,setsar=\(pixels),\(scale)")
        let size = "\(adaptation.size.width),\(adaptation.size.height),"
        #expect(expected.hasPrefix(size), "\(size) \(expected)")
        // The picture is smaller than the sink's limit in its true shape. An exact size is not affected.
        let box = ImageSize(width: 200, height: 200)
        let fitted = try adapt(SinkWants(largestSize: box, squarePixels: true), width, height, pixels: pixels).0.size
        #expect(fitted.fits(in: box))
        let shape = Double(width) / Double(height) * pixels.doubleValue
        #expect(abs(Double(fitted.width) / Double(fitted.height) / shape - 1) < 0.02)
        #expect(try adapt(SinkWants(size: box, squarePixels: true), width, height, pixels: pixels).0.size == box)
    }

    @Test("Square and unknown pixel aspect ratios are kept, and no aspect ratio makes a picture too large")
    func squaresNothing() throws {
        for pixels in [Rational(1), nil] {
            let (adaptation, picture) = try adapt(SinkWants(squarePixels: true), 321, 241, pixels: pixels)
            #expect(adaptation.isIdentity(for: picture))
            #expect(adaptation.sampleAspectRatio(of: picture) == pixels)
        }
        for pixels in [Rational(4_000_000_000, 1), Rational(1, 4_000_000_000), Rational(3, 1)] {
            let size = try adapt(SinkWants(squarePixels: true), 32_768, 32_768, pixels: pixels).0.size
            #expect(size.isValid)
        }
    }

    @Test("A rotated picture gets square pixels before the rotation")
    func squaresTurned() throws {
        let wants = SinkWants(rotation: .applied, squarePixels: true)
        let (adaptation, picture) = try adapt(wants, 160, 240, rotation: .clockwise90, pixels: Rational(2))
        #expect(adaptation.size == ImageSize(width: 320, height: 240))
        #expect(adaptation.unturned.size == adaptation.size)
        #expect(adaptation.sampleAspectRatio(of: picture) == Rational(1))
    }

    @Test("A fitted picture has at least two rows and columns, or one if the limit is one")
    func fitsFlatOnes() throws {
        func fitted(_ width: Int, _ height: Int) throws -> ImageSize {
            try adapt(SinkWants(largestSize: ImageSize(width: width, height: height)), 4000, 30).0.size
        }
        #expect(try fitted(100, 100) == ImageSize(width: 100, height: 2))
        #expect(try fitted(100, 1) == ImageSize(width: 100, height: 1))
        #expect(try fitted(1, 1) == ImageSize(width: 1, height: 1))
    }

    @Test("A picture that fits is unchanged, even with odd sizes")
    func leavesSmallOnes() throws {
        let (adaptation, picture) = try adapt(SinkWants(largestSize: ImageSize(width: 640, height: 480)), 639, 479)
        #expect(adaptation.isIdentity(for: picture))
        let (plain, other) = try adapt(SinkWants(), 639, 479, rotation: .clockwise90, pixels: Rational(4, 3))
        #expect(plain.isIdentity(for: other))
        #expect(plain.sampleAspectRatio(of: other) == Rational(4, 3))
    }

    @Test("Sizes are those of the upright picture if the rotation is applied, otherwise of the stored picture")
    func sizesAndRotation() throws {
        let wide = ImageSize(width: 640, height: 480)
        var wants = SinkWants(size: wide, rotation: .applied)
        let (turned, picture) = try adapt(wants, 1920, 1080, rotation: .clockwise90, pixels: Rational(1))
        #expect(turned.size == wide.transposed && turned.turn == .clockwise90)
        // 1080x1920 upright, scaled to 640x480: pixels are (1080/640) / (1920/480) wide.
        #expect(turned.sampleAspectRatio(of: picture) == Rational(27, 64))
        #expect(try adapt(wants, 1920, 1080, rotation: .clockwise180).0.size == wide)
        wants.rotation = .metadata
        let (stored, _) = try adapt(wants, 1920, 1080, rotation: .clockwise90)
        #expect(stored.size == wide && stored.turn == .none)

        let fitted = SinkWants(largestSize: wide, rotation: .applied)
        #expect(
            try adapt(fitted, 1920, 1080, rotation: .clockwise90).0.size == ImageSize(width: 480, height: 270))
        // The upright picture is 9:16; the part with a 4:3 aspect ratio has its full upright width.
        let (center, _) = try adapt(
            SinkWants(crop: .center(Rational(4, 3)), rotation: .applied), 1920, 1080, rotation: .clockwise270)
        #expect(center.crop == ImageRect(x: 554, y: 0, width: 810, height: 1080))
    }

    @Test("A rotated picture without square pixels has a rotated pixel aspect ratio")
    func turnedPixels() throws {
        let (adaptation, picture) = try adapt(
            SinkWants(rotation: .applied), 720, 576, rotation: .clockwise90, pixels: Rational(16, 15))
        #expect(adaptation.sampleAspectRatio(of: picture) == Rational(15, 16))
    }

    @Test(
        "The centred part has the wanted aspect ratio as shown, has even edges, and is as large as possible",
        arguments: [
            (1920, 1080, Rational(4, 3), nil, ImageRect(x: 240, y: 0, width: 1440, height: 1080)),
            (1280, 720, Rational(1), nil, ImageRect(x: 280, y: 0, width: 720, height: 720)),
            (640, 480, Rational(16, 9), nil, ImageRect(x: 0, y: 60, width: 640, height: 360)),
            // PAL with wide pixels is shown as 16:9: a square part is 405 pixels wide, made even.
            (720, 576, Rational(1), Rational(64, 45), ImageRect(x: 158, y: 0, width: 404, height: 576)),
            (720, 576, Rational(16, 9), Rational(64, 45), nil), (81, 67, Rational(81, 67), nil, nil),
            (81, 67, Rational(1), nil, ImageRect(x: 6, y: 0, width: 66, height: 67)),
            (64, 48, Rational(1000), nil, ImageRect(x: 0, y: 22, width: 64, height: 2)),
            // An invalid pixel aspect ratio counts as square.
            (64, 48, Rational(1), Rational(0), ImageRect(x: 8, y: 0, width: 48, height: 48)),
            (1, 1, Rational(2), nil, ImageRect(x: 0, y: 0, width: 1, height: 1)),
        ] as [(Int, Int, Rational, Rational?, ImageRect?)])
    func center(width: Int, height: Int, shape: Rational, pixels: Rational?, expected: ImageRect?) throws {
        let (adaptation, picture) = try adapt(SinkWants(crop: .center(shape)), width, height, pixels: pixels)
        #expect(adaptation.crop == expected)
        #expect(adaptation.sampleAspectRatio(of: picture) == pixels)
    }

    @Test("A part with the aspect ratio of the wanted size is not stretched")
    func centerAndSize() throws {
        let wants = SinkWants(crop: .center(Rational(16, 9)), size: ImageSize(width: 640, height: 360))
        let (adaptation, picture) = try adapt(wants, 1440, 1080, pixels: Rational(1))
        #expect(adaptation.crop == ImageRect(x: 0, y: 134, width: 1440, height: 810))
        #expect(adaptation.sampleAspectRatio(of: picture) == Rational(1))
    }

    @Test("A part outside of the picture is an invalid configuration, and a part that covers it is ignored")
    func exact() throws {
        let rect = ImageRect(x: 16, y: 8, width: 32, height: 40)
        #expect(try adapt(SinkWants(crop: .exact(rect)), 64, 48).0.crop == rect)
        #expect(
            try adapt(SinkWants(crop: .exact(ImageRect(x: 0, y: 0, width: 64, height: 48))), 64, 48).0.crop == nil)
        let error = #expect(throws: InletError.self) { try adapt(SinkWants(crop: .exact(rect)), 64, 46) }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test(
        "A frame of an impossible size is left for the conversion to refuse",
        arguments: [(5000, 0), (0, 0), (-4, 7), (.max, .max)] as [(Int, Int)])
    func impossibleFrames(width: Int, height: Int) throws {
        let size = ImageSize(width: 64, height: 48)
        let wants = [
            SinkWants(largestSize: size), SinkWants(crop: .center(Rational(1))), SinkWants(size: size),
            SinkWants(crop: .exact(ImageRect(x: 0, y: 0, size: size)), rotation: .applied),
        ]
        for wants in wants {
            let (adaptation, picture) = try adapt(wants, width, height, rotation: .clockwise90, pixels: Rational(4, 3))
            #expect(adaptation.isIdentity(for: picture))
            #expect(adaptation.sampleAspectRatio(of: picture) == Rational(4, 3))
        }
    }
}

import Foundation
import InletCore
import InletFFmpeg
import ReferenceTools
import Testing
import TurboJPEGDecoder

@Suite(.blocking) struct TurboJPEGVideoDecoderTests {
    private static let timeBase = Rational(1, 1000)
    private static let small = ImageSize(width: 97, height: 63)

    struct Kind: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The pixel format, by FFmpeg's name.
        var pixelFormat: String
        /// The factors by which chroma is narrower and lower, as powers of two.
        var shifts: (x: Int, y: Int)
        /// The options of `cjpeg`.
        var options: [String]

        init(_ pixelFormat: String, _ x: Int, _ y: Int, _ options: String...) {
            (self.pixelFormat, shifts, self.options) = (pixelFormat, (x, y), options)
            testDescription = "\(pixelFormat) \(options.joined(separator: " "))"
        }
    }

    private static func parameters(_ size: ImageSize = small) -> CodecParameters {
        CodecParameters(codec: .mjpeg, size: size, timeBase: timeBase)
    }

    private static func decoder(
        _ plugin: DecoderPlugin = .turboJPEG, _ change: (inout DecoderSettings) -> Void = { _ in }
    ) throws -> any VideoDecoder {
        let decoder = try plugin.makeDecoder()
        var settings = DecoderSettings()
        settings.threads = 1
        change(&settings)
        try decoder.open(parameters(ImageSize(width: 0, height: 0)), settings)
        return decoder
    }

    /// - Parameter size: the size that the container states.
    private static func packet(_ bytes: [UInt8], of size: ImageSize = ImageSize(width: 0, height: 0)) -> SourcePacket {
        SourcePacket(
            parameters: parameters(size), data: PacketData(bytes), pts: MediaTime(ticks: 40, timeBase: timeBase),
            dts: nil,
            duration: MediaTime(ticks: 20, timeBase: timeBase), flags: .key)
    }

    /// The result of a decoder for a JPEG: a picture, or the fault.
    private static func decode(
        _ bytes: [UInt8], by decoder: any VideoDecoder
    ) throws -> (picture: SourceFrame?, fault: PacketFault?) {
        let fault = try decoder.send(packet(bytes))
        switch try decoder.receive() {
        case .picture(let picture): return (picture, fault)
        case .undecodable(let late): return (nil, fault ?? late)
        case .needsPacket, .ended: return (nil, fault)
        }
    }

    @Test(
        "Pictures of every sampling and size match ffmpeg's except for rounding, and their luma is djpeg's",
        arguments: [
            Kind("yuvj420p", 1, 1, "-sample", "2x2"), Kind("yuvj422p", 1, 0, "-sample", "2x1"),
            Kind("yuvj444p", 0, 0, "-sample", "1x1"), Kind("yuvj440p", 0, 1, "-sample", "1x2"),
            Kind("yuvj411p", 2, 0, "-sample", "4x1"), Kind("gray", 0, 0, "-grayscale"),
            Kind("yuvj420p", 1, 1, "-progressive"), Kind("yuvj422p", 1, 0, "-sample", "2x1", "-restart", "1"),
            Kind("yuvj420p", 1, 1, "-optimize"),
        ], ["97x63", "1x1", "128x64", "16x9", "1280x720", "641x479"])
    func pictures(_ kind: Kind, size: String) throws {
        let size = try #require(ImageSize(optionText: size))
        let bytes = try JPEGSamples.cjpeg(size, kind.options)
        let found = try Self.decode(bytes, by: Self.decoder())
        let picture = try #require(found.picture)
        #expect(picture.size == size)
        #expect(picture.pixelFormat == PixelFormat(kind.pixelFormat))
        let actual = picture.packed(chroma: kind.shifts)
        #expect(actual.prefix(size.width * size.height).elementsEqual(try JPEGSamples.luma(of: bytes, size)))
        let expected = try JPEGSamples.planes(of: bytes, as: kind.pixelFormat)
        try #require(actual.count == expected.count)
        let differences = zip(actual, expected).map { abs(Int($0) - Int($1)) }
        #expect(differences.max() ?? 0 <= 2)
        let squares = differences.reduce(0) { $0 + $1 * $1 }
        #expect(squares == 0 || 10 * log10(255 * 255 * Double(actual.count) / Double(squares)) > 50)
    }

    @Test(
        "The properties of a picture are those that libavcodec reports",
        arguments: [
            "yuvj420p", "yuvj422p", "yuvj444p",
        ])
    func facts(pixelFormat: String) throws {
        let bytes = try JPEGSamples.ffmpeg(Self.small, pixelFormat)
        let ours = try #require(try Self.decode(bytes, by: Self.decoder()).picture)
        let theirs = try #require(try Self.decode(bytes, by: FFmpegVideoDecoder.opened(Self.parameters())).picture)
        #expect(ours.pixelFormat == theirs.pixelFormat)
        #expect(ours.colorSpace == theirs.colorSpace)
        #expect(ours.size == theirs.size)
        #expect(ours.flags == theirs.flags)
        #expect(ours.sampleAspectRatio == theirs.sampleAspectRatio)
        #expect(ours.rotation == theirs.rotation)
        #expect(ours.pts == theirs.pts)
        #expect(ours.duration == theirs.duration)
    }

    @Test("With arithmetic coding, and without the tables that Motion JPEG omits, the picture is the same")
    func coding() throws {
        let plain = try JPEGSamples.cjpeg(Self.small, ["-sample", "2x1"])
        let arithmetic = try JPEGSamples.cjpeg(Self.small, ["-sample", "2x1", "-arithmetic"])
        // Without its DHT segments: cjpeg writes those of T.81, annex K.
        var bare = plain
        while let place = bare.indices.dropLast(3).first(where: { bare[$0] == 0xFF && bare[$0 + 1] == 0xC4 }) {
            let length = Int(bare[place + 2]) << 8 | Int(bare[place + 3])
            bare.removeSubrange(place..<place + 2 + length)
        }
        #expect(bare.count < plain.count)
        let expected = try #require(try Self.decode(plain, by: Self.decoder()).picture).packed(chroma: (1, 0))
        for bytes in [arithmetic, bare] {
            #expect(try Self.decode(bytes, by: Self.decoder()).picture?.packed(chroma: (1, 0)) == expected)
        }
    }

    @Test("Memory of released pictures is reused, and a held picture does not change")
    func memory() throws {
        let decoder = try Self.decoder()
        let bytes = try [Self.small, ImageSize(width: 64, height: 48)].map { try JPEGSamples.ffmpeg($0, "yuvj422p") }
        let held = try #require(try Self.decode(bytes[0], by: decoder).picture)
        let before = held.packed(chroma: (1, 0))
        func address(_ bytes: [UInt8]) throws -> UnsafePointer<UInt8>? {
            unsafe try Self.decode(bytes, by: decoder).picture?.planes[0]?.topRow
        }
        let first = unsafe try address(bytes[0])
        #expect(unsafe try address(bytes[0]) == first)
        #expect(unsafe held.planes[0]?.topRow != first)
        _ = unsafe try address(bytes[1])
        #expect(held.packed(chroma: (1, 0)) == before)
    }

    @Test(
        "A JPEG truncated at any point gives no picture, or a marked one if damaged pictures are wanted",
        arguments: [DecoderPlugin.turboJPEG, .libavcodec], [["-sample", "2x1"], ["-progressive"]])
    func cut(_ plugin: DecoderPlugin, _ options: [String]) throws {
        let whole = try JPEGSamples.cjpeg(Self.small, options)
        let chroma = options == ["-progressive"] ? (1, 1) : (1, 0)
        let expected = try Self.decode(whole, by: Self.decoder(plugin)).picture?.packed(chroma: chroma)
        let decoder = try Self.decoder(plugin)
        for part in 1..<16 {
            let bytes = Array(whole.prefix(whole.count * part / 16))
            let found = try Self.decode(bytes, by: decoder)
            #expect(found.picture == nil && found.fault == .malformed, "\(part) of 16")
            // The next picture is not affected.
            let next = try Self.decode(whole, by: decoder).picture
            #expect(next?.flags == .key && next?.packed(chroma: chroma) == expected)
        }
        let lenient = try Self.decoder(plugin) { $0.showsDamaged = true }
        let part = Array(whole.prefix(whole.count * 7 / 8))
        #expect(try Self.decode(part, by: lenient).picture?.flags == [.key, .corrupt])
        let next = try Self.decode(whole, by: lenient).picture
        #expect(next?.flags == .key && next?.packed(chroma: chroma) == expected)
        #expect(try Self.decode([], by: Self.decoder(plugin)).fault == .malformed)
    }

    @Test(
        "A few bytes before the end of image, as webcams write them, are not damage, but many are",
        arguments: [DecoderPlugin.turboJPEG, .libavcodec])
    func padding(_ plugin: DecoderPlugin) throws {
        let whole = try JPEGSamples.cjpeg(Self.small, ["-sample", "2x1"])
        func padded(_ count: Int) -> [UInt8] {
            Array(whole.dropLast(2)) + [UInt8](repeating: 0x55, count: count) + [0xFF, 0xD9]
        }
        let expected = try Self.decode(whole, by: Self.decoder(plugin)).picture?.packed(chroma: (1, 0))
        for count in 1...4 {
            let found = try Self.decode(padded(count), by: Self.decoder(plugin))
            #expect(found.picture?.flags == .key)
            #expect(found.picture?.packed(chroma: (1, 0)) == expected)
        }
        // libavcodec has read the whole picture by then.
        if plugin.name == DecoderPlugin.turboJPEG.name {
            #expect(try Self.decode(padded(60), by: Self.decoder(plugin)).fault == .malformed)
        }
    }

    @Test(
        "A JPEG that is truncated before a restart marker and closed is damaged, even with a few bytes in between",
        arguments: [DecoderPlugin.turboJPEG, .libavcodec])
    func cutAtRestart(_ plugin: DecoderPlugin) throws {
        let whole = try JPEGSamples.cjpeg(Self.small, ["-sample", "2x1", "-restart", "1"])
        let markers = whole.indices.dropLast().filter {
            whole[$0] == 0xFF && (0xD0...0xD7).contains(whole[$0 + 1])
        }
        #expect(markers.count > 3)
        for marker in markers {
            for count in 0...3 {
                let bytes = whole[..<marker] + [UInt8](repeating: 0x55, count: count) + [0xFF, 0xD9]
                let found = try Self.decode(Array(bytes), by: Self.decoder(plugin))
                #expect(found.fault == .malformed, "\(marker) \(count)")
            }
        }
        #expect(try Self.decode(whole, by: Self.decoder(plugin)).picture?.flags == .key)
    }

    @Test("A header that differs occasionally costs only that picture")
    func foreignHeader() throws {
        let whole = try JPEGSamples.ffmpeg(Self.small, "yuvj422p")
        var bytes = whole
        let place = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC0 })
        bytes[place + 4] = 12
        let decoder = try Self.decoder()
        for _ in 0..<3 {
            #expect(try Self.decode(whole, by: decoder).picture != nil)
            for _ in 0..<7 { #expect(try Self.decode(bytes, by: decoder).fault == .malformed) }
        }
        let error = #expect(throws: InletError.self) { try Self.decode(bytes, by: decoder) }
        #expect(error?.code == .unsupported)
    }

    @Test("If no picture is whole, another decoder is tried; a whole picture restarts the count")
    func hopeless() throws {
        let whole = try JPEGSamples.cjpeg(Self.small, [])
        let half = Array(whole.prefix(whole.count / 2))
        let decoder = try Self.decoder()
        for _ in 0..<7 { #expect(try Self.decode(half, by: decoder).fault == .malformed) }
        #expect(try Self.decode(whole, by: decoder).picture != nil)
        for _ in 0..<7 { #expect(try Self.decode(half, by: decoder).fault == .malformed) }
        let error = #expect(throws: InletError.self) { try Self.decode(half, by: decoder) }
        #expect(error?.code == .malformedData)
    }

    @Test("A picture beyond the maximum size is refused because of its header")
    func oversized() throws {
        var bytes = try JPEGSamples.ffmpeg(Self.small, "yuvj422p")
        let place = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC0 })
        bytes.replaceSubrange(place + 5..<place + 9, with: [0x3E, 0x80, 0x3E, 0x80])
        #expect(try Self.decode(bytes, by: Self.decoder()).fault == .tooLarge)
        let whole = try JPEGSamples.ffmpeg(Self.small, "yuvj422p")
        let decoder = try Self.decoder { $0.maximumSize = ImageSize(width: 96, height: 63) }
        #expect(try Self.decode(whole, by: decoder).fault == .tooLarge)
        let exact = try Self.decoder { $0.maximumSize = Self.small }
        #expect(try Self.decode(whole, by: exact).picture != nil)
    }

    @Test("JPEGs of kinds that are left to others end the decoder")
    func foreign() throws {
        for options in [["-rgb"], ["-sample", "2x2,1x2,2x1"]] {
            let bytes = try JPEGSamples.cjpeg(Self.small, options)
            let error = #expect(throws: InletError.self) { try Self.decode(bytes, by: Self.decoder()) }
            #expect(error?.code == .unsupported, "\(options)")
        }
        let decoder = try DecoderPlugin.turboJPEG.makeDecoder()
        var avid = Self.parameters()
        avid.codecTag = 0x6E52_5641  // AVRn
        #expect(throws: InletError.self) { try decoder.open(avid, DecoderSettings()) }
        // A field of two lines in four, as the container states.
        let fields = try DecoderPlugin.turboJPEG.makeDecoder()
        try fields.open(Self.parameters(ImageSize(width: 97, height: 126)), DecoderSettings())
        let bytes = try JPEGSamples.ffmpeg(Self.small, "yuvj422p")
        #expect(throws: InletError.self) {
            try fields.send(Self.packet(bytes, of: ImageSize(width: 97, height: 126)))
        }
    }

    @Test("Bytes changed at random never trap, and each missing picture is reported")
    func hostile() throws {
        let samples = try [["-sample", "2x2"], ["-progressive"], ["-grayscale"], ["-sample", "4x1", "-restart", "1"]]
            .map {
                try JPEGSamples.cjpeg(ImageSize(width: 48, height: 32), $0)
            }
        var generator = TestGenerator(state: 7)
        for round in 0..<1200 {
            var bytes = samples[round % samples.count]
            for _ in 0..<1 + generator.next() % 6 {
                bytes[Int(generator.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: generator.next())
            }
            let decoder = try Self.decoder {
                $0.maximumSize = ImageSize(width: 512, height: 512)
                $0.showsDamaged = round % 2 == 1
            }
            do {
                let found = try Self.decode(bytes, by: decoder)
                #expect((found.picture == nil) == (found.fault != nil), "round \(round)")
            } catch let error as InletError {
                #expect(error.code == .unsupported, "round \(round): \(error)")
            }
        }
    }
}

/// Numbers that are the same in every run.
private struct TestGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }
}

extension FFmpegVideoDecoder {
    /// A decoder by libavcodec, ready for a stream.
    fileprivate static func opened(_ parameters: CodecParameters) throws -> FFmpegVideoDecoder {
        let decoder = try FFmpegVideoDecoder()
        var settings = DecoderSettings()
        settings.threads = 1
        try decoder.open(parameters, settings)
        return decoder
    }
}

import FFmpegSink
import Foundation
import InletCore
import ReferenceTools
import Testing

/// Streams whose key frames have other parameter sets, which the source does not report.
@Suite(.tags(.encoder), .blocking) struct ParameterChangeTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A stream with start codes, by one encoder after another. Parameter sets precede each key frame.
    private struct Stream {
        /// The parameter sets of each part.
        var parameters: [CodecParameters] = []
        var packets: [EncodedPacket] = []
    }

    /// - Parameter parts: the width and an encoder option for each part, which has 10 pictures.
    private func stream(_ codec: VideoCodec, _ parts: [(width: Int, option: String)]) throws -> Stream {
        var stream = Stream()
        let encoder = codec == .h264 ? ["libx264", "-x264-params"] : ["libx265", "-x265-params"]
        let quiet = codec == .h264 ? "" : ":log-level=none:info=0"
        for part in parts {
            let path = folder.path("part.\(codec.rawValue)")
            try ReferenceCommand.ffmpeg([
                "-f", "lavfi", "-i", "testsrc2=size=\(part.width)x120:rate=30", "-frames:v", "10", "-pix_fmt",
                "yuv420p",
                "-c:v", encoder[0], encoder[1], "bframes=0:\(part.option)\(quiet)", path,
            ])
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
            var place = 0
            for line in try Recording.probe(path, "packet=size,flags") {
                let count = try #require(Int(line.prefix { $0 != "," }))
                let time = Double(stream.packets.count) / 30
                stream.packets.append(
                    CopiedClip.packet(
                        Array(bytes[place..<place + count]), time, time, isKey: line.contains("K")))
                place += count
            }
            var parameters = CodecParameters(
                codec: codec, size: ImageSize(width: part.width, height: 120), timeBase: Rational(1, 90_000))
            parameters.extraData = sets(bytes, codec).flatMap { [0, 0, 0, 1] + $0 }
            stream.parameters.append(parameters)
        }
        return stream
    }

    /// The parameter sets of a stream with start codes: types 7 and 8 of H.264, and 32 to 34 of HEVC.
    private func sets(_ bytes: [UInt8], _ codec: VideoCodec) -> [Data] {
        var (sets, rest) = ([Data](), Data(bytes))
        while let code = rest.range(of: Data([0, 0, 1])) {
            rest = Data(rest[code.upperBound...])
            var set = rest[..<(rest.range(of: Data([0, 0, 1]))?.lowerBound ?? rest.endIndex)]
            while set.last == 0 { set.removeLast() }
            let header = set.first ?? 0
            if codec == .h264 ? [7, 8].contains(header & 31) : (32...34).contains(header >> 1) { sets.append(set) }
        }
        return sets
    }

    /// The pictures that ffmpeg decodes from the raw stream, scaled to one size.
    private func reference(_ packets: [EncodedPacket], _ codec: VideoCodec) throws -> Data {
        let path = folder.path("reference.\(codec.rawValue)")
        try Data(packets.flatMap { packet in (0..<packet.data.count).map { packet.data.bytes[$0] } })
            .write(to: URL(fileURLWithPath: path))
        return try decoded(path)
    }

    private func decoded(_ path: String) throws -> Data {
        try ReferenceCommand.ffmpeg([
            "-i", path, "-fps_mode", "passthrough", "-vf", "scale=160:120:flags=bitexact", "-pix_fmt", "yuv420p", "-f",
            "rawvideo", "-",
        ])
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path("")).filter { $0.hasPrefix("a") }.sorted()
    }

    @Test(
        "A key frame of another size begins a new file although the source reports no change",
        arguments: [VideoCodec.h264, .hevc], ["mp4", "mkv", "ts"])
    func otherSize(_ codec: VideoCodec, _ container: String) throws {
        let stream = try stream(codec, [(160, "ref=1"), (320, "ref=1")])
        let kind = try #require(FFmpegContainer(rawValue: container))
        let sink = try FFmpegPacketSink(FFmpegOutput(kind, to: folder.path("a-{n}.\(container)")))
        try sink.start(stream.parameters[0])
        for packet in stream.packets { try sink.write(packet) }
        try sink.finish()
        #expect(try names() == ["a-000001.\(container)", "a-000002.\(container)"])
        for (index, name) in try names().enumerated() {
            let size = try Recording.probe(folder.path(name), "stream=width,height").first
            #expect(size == "\(index == 0 ? 160 : 320),120")
            let part = Array(stream.packets[index * 10..<index * 10 + 10])
            #expect(try decoded(folder.path(name)).isSame(as: reference(part, codec)))
        }
    }

    /// Options that give different parameter sets of one level and profile.
    private func options(_ codec: VideoCodec) -> [String] {
        codec == .h264 ? ["level=3.0:ref=1", "level=3.0:ref=3"] : ["level-idc=3.0:sao=0", "level-idc=3.0:sao=1"]
    }

    /// A packet without the parameter sets in it.
    private func withoutSets(_ packet: EncodedPacket, _ codec: VideoCodec) -> EncodedPacket {
        guard packet.isKey else { return packet }
        var rest = Data((0..<packet.data.count).map { packet.data.bytes[$0] })
        for set in sets([UInt8](rest), codec) {
            if let place = rest.range(of: Data([0, 0, 1]) + set) { rest.removeSubrange(place) }
        }
        var packet = packet
        packet.data = PacketData([UInt8](rest))
        return packet
    }

    @Test(
        "Parameter sets that change back and forth stay in one file, in its packets",
        arguments: [VideoCodec.h264, .hevc], ["mp4", "mkv", "ts"])
    func flips(_ codec: VideoCodec, _ container: String) throws {
        let stream = try stream(codec, (0..<6).map { (160, options(codec)[$0 % 2]) })
        try #require(stream.parameters[0].extraData != stream.parameters[1].extraData)
        let expected = try reference(stream.packets, codec)
        let kind = try #require(FFmpegContainer(rawValue: container))
        // A source reports a change, or the key frames state it.
        for reports in [false, true] {
            let name = "a-\(reports).\(container)"
            let sink = try FFmpegPacketSink(FFmpegOutput(kind, to: folder.path(name)))
            try sink.start(stream.parameters[0])
            for (index, packet) in stream.packets.enumerated() {
                if reports, index > 0, index % 10 == 0 { try sink.start(stream.parameters[index / 10]) }
                try sink.write(reports ? withoutSets(packet, codec) : packet)
            }
            try sink.finish()
            #expect(try decoded(folder.path(name)).isSame(as: expected))
            guard container == "mp4" else { continue }
            // ISO/IEC 14496-15: this name permits parameter sets in the samples.
            let tag = try Recording.probe(folder.path(name), "stream=codec_tag_string").first
            #expect(tag == (codec == .h264 ? "avc3" : "hev1"))
        }
        #expect(try names() == ["a-false.\(container)", "a-true.\(container)"])
    }

    @Test("A file with constant parameter sets has them at its beginning", arguments: [VideoCodec.h264, .hevc])
    func sameSets(_ codec: VideoCodec) throws {
        let stream = try stream(codec, [(160, options(codec)[0]), (160, options(codec)[0])])
        let sink = try FFmpegPacketSink(FFmpegOutput(.mp4, to: folder.path("a.mp4")))
        // The source states those of another encoder.
        var parameters = stream.parameters[0]
        parameters.extraData = try self.stream(codec, [(160, options(codec)[1])]).parameters[0].extraData
        try sink.start(parameters)
        for packet in stream.packets { try sink.write(packet) }
        try sink.finish()
        let tag = try Recording.probe(folder.path("a.mp4"), "stream=codec_tag_string").first
        #expect(tag == (codec == .h264 ? "avc1" : "hvc1"))
        let file = try Data(contentsOf: URL(fileURLWithPath: folder.path("a.mp4")))
        let box = try #require(file.range(of: Data((codec == .h264 ? "avcC" : "hvcC").utf8))).upperBound
        for set in sets(stream.parameters[0].extraData, codec) {
            #expect(file[box..<min(box + 4096, file.endIndex)].range(of: set) != nil)
        }
    }

    @Test("Another profile begins a new file, because the first one's header does not permit it")
    func otherProfile() throws {
        let stream = try stream(.h264, [(160, "cabac=0:8x8dct=0:weightp=0:ref=1"), (160, "ref=1")])
        let sink = try FFmpegPacketSink(FFmpegOutput(.mp4, to: folder.path("a-{n}.mp4")))
        try sink.start(stream.parameters[0])
        for packet in stream.packets { try sink.write(packet) }
        try sink.finish()
        #expect(try names() == ["a-000001.mp4", "a-000002.mp4"])
        let profiles = try names().map { try Recording.probe(folder.path($0), "stream=profile").first }
        #expect(profiles == ["Constrained Baseline", "High"])
    }

    /// Writes a stream to an ffmpeg that listens for RTMP, and returns its recording, which it copies.
    private func published(_ stream: Stream) async throws -> Data {
        let (port, path) = (try FreePort.find(), folder.path("published.flv"))
        let server = Process()
        server.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let input = ["-listen", "1", "-i", "rtmp://127.0.0.1:\(port)/live/key"]
        server.arguments = ["ffmpeg", "-v", "error", "-nostdin", "-y"] + input + ["-c", "copy", path]
        try server.runUnblocked()
        defer { server.terminate() }
        var sink: FFmpegPacketSink?
        try await Waiting.until("the server", progress: { 0 }) {
            sink = try FFmpegPacketSink(FFmpegOutput(.rtmp, to: "rtmp://127.0.0.1:\(port)/live/key"))
            return (try? sink?.start(stream.parameters[0])) != nil
        }
        for packet in stream.packets { try sink?.write(packet) }
        try sink?.finish()
        try await Waiting.until("the end of the server", progress: { 0 }) { !server.isRunning }
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    /// Returns an FLV file as a viewer gets it who joins at a key frame: the last sequence header before it, and the
    /// tags from it on (Adobe Flash Video File Format Specification 10.1, E.4.1 and E.4.3).
    private func joined(_ file: Data, atKeyFrame number: Int) -> Data {
        var (header, result, rest, keyFrames) = (Data(), Data(), file.dropFirst(13), 0)
        while rest.count > 15 {
            let tag = [UInt8](rest.prefix(13))
            let count = 15 + (Int(tag[1]) << 16 | Int(tag[2]) << 8 | Int(tag[3]))
            let isVideo = tag[0] == 9
            if isVideo, tag[12] == 0 { header = rest.prefix(count) }
            if isVideo, tag[11] == 0x17, tag[12] == 1 {
                if keyFrames == number { result = file.prefix(13) + header }
                keyFrames += 1
            }
            if isVideo, !result.isEmpty { result += rest.prefix(count) }
            rest = rest.dropFirst(count)
        }
        return result
    }

    @Test("RTMP states changed parameter sets with their key frame: whole, and for viewers who join at any key frame")
    func published() async throws {
        let stream = try stream(.h264, (0..<4).map { (160, options(.h264)[$0 % 2]) })
        let file = try await published(stream)
        for part in 0..<4 {
            let path = folder.path("joined.flv")
            try joined(file, atKeyFrame: part).write(to: URL(fileURLWithPath: path))
            let expected = try reference(Array(stream.packets[(part * 10)...]), .h264)
            #expect(try decoded(path).isSame(as: expected), "\(part)")
        }
    }

    /// Two parts, the second of which begins without its sets: they precede the last picture of the first part.
    private func early() throws -> Stream {
        var stream = try stream(.h264, [(160, "level=3.0:ref=1"), (160, "level=3.0:ref=3:sps-id=1")])
        stream.packets[10] = withoutSets(stream.packets[10], .h264)
        let last = stream.packets[9].data
        stream.packets[9].data = PacketData(
            stream.parameters[1].extraData + (0..<last.count).map { last.bytes[$0] })
        return stream
    }

    @Test(
        "Parameter sets before a picture that is no key frame are at the beginning of the file that begins next",
        arguments: ["mp4", "mkv", "ts"])
    func earlySets(_ container: String) throws {
        let stream = try early()
        let second = try self.stream(.h264, [(160, "level=3.0:ref=3:sps-id=1")])
        let kind = try #require(FFmpegContainer(rawValue: container))
        var output = FFmpegOutput(kind, to: folder.path("a-{n}.\(container)"))
        output.segment = .milliseconds(330)
        let sink = try FFmpegPacketSink(output)
        try sink.start(stream.parameters[0])
        for packet in stream.packets { try sink.write(packet) }
        try sink.finish()
        #expect(try names() == ["a-000001.\(container)", "a-000002.\(container)"])
        let first = Array(stream.packets[..<10])
        #expect(try decoded(folder.path("a-000001.\(container)")).isSame(as: reference(first, .h264)))
        #expect(try decoded(folder.path("a-000002.\(container)")).isSame(as: reference(second.packets, .h264)))
    }

    @Test("RTMP states parameter sets before a picture that is no key frame with the next key frame")
    func earlySetsPublished() async throws {
        let stream = try early()
        let second = try self.stream(.h264, [(160, "level=3.0:ref=3:sps-id=1")])
        let file = try await published(stream)
        let path = folder.path("joined.flv")
        try joined(file, atKeyFrame: 0).write(to: URL(fileURLWithPath: path))
        #expect(try decoded(path).isSame(as: reference(stream.packets, .h264)))
        try joined(file, atKeyFrame: 1).write(to: URL(fileURLWithPath: path))
        #expect(try decoded(path).isSame(as: reference(second.packets, .h264)))
    }
}

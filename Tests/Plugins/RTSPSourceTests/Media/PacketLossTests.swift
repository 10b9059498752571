import FFmpegDecoder
import InletCore
import InletDecode
import InletRTP
import Logging
import ReferenceTools
import Testing

@testable import InletTesting
@testable import RTSPSource

/// Drops packets of clips that ffmpeg encoded, and compares each picture that is shown with ffmpeg's decoding of the
/// whole clip.
@Suite(.serialized, .blocking) struct PacketLossTests {
    /// The numbers of pictures and packets after a clip was played.
    struct Outcome {
        var shown = 0
        var wrong = 0
        var lost = 0
        var statistics = DepacketizerStatistics()
    }

    /// A source that yields the access units of a clip without the lost packets.
    private final class Remains: FrameSource {
        private let clip: CodedStream
        private let lost: Set<Int>
        let stream: MediaStream
        private var points = StartingPoints()
        private var next = 0
        private var parameters: CodecParameters

        init(_ clip: CodedStream, without lost: Set<Int>) {
            (self.clip, self.lost) = (clip, lost)
            parameters = CodecParameters(
                codec: clip.isHEVC ? .hevc : .h264, size: ImageSize(width: 0, height: 0),
                timeBase: Rational(1, 90_000))
            var settings = DepacketizerSettings()
            settings.poolUnits = 1000
            stream = MediaStream(
                clip.format, RTPReceiver.Settings(), settings, requests: [],
                at: MonotonicTime(nanoseconds: 0), hostTime: { 0 })
        }

        func open(_ context: SourceContext) throws -> SourceFormat {
            var format = SourceFormat(
                size: parameters.size, pixelFormat: .yuv420p, timeBase: parameters.timeBase, pacing: .live,
                codec: parameters.codec.rawValue, container: "rtsp")
            format.packetStream = PacketStream(parameters)
            return format
        }

        func next(_ context: SourceContext) throws -> SourceItem? {
            while !stream.hasUnit {
                guard next < clip.packets.count else {
                    guard next == clip.packets.count else { return nil }
                    next += 1
                    stream.end()
                    if stream.hasUnit { break }
                    return nil
                }
                // The time between pictures is much longer than the depacketizer waits for a packet.
                let time = MonotonicTime(nanoseconds: Int64(next) * 50_000_000)
                if !lost.contains(next) {
                    let packet = clip.packets[next]
                    unsafe stream.take(packet.span.bytes, at: time, hasMore: false)
                }
                stream.idle(at: time)
                next += 1
            }
            guard let item = stream.takeUnit() else { return nil }
            return .packet(SourcePacket(item, parameters, isStart: points.isStart(item.unit)))
        }

        func close() {}
    }

    private struct Configuration: FrameSourceConfiguration {
        let make: @Sendable () -> any FrameSource
        var redactedURI: String { "clip" }
        func makeSource() -> any FrameSource { make() }
    }

    /// Drops a share of the packets, decodes the rest and counts the pictures.
    private static func play(_ clip: CodedStream, losing share: Double, seed: UInt64) throws -> Outcome {
        var random = SplitMix64(seed: seed)
        let lost = Set(clip.packets.indices.filter { random.fraction() < share && $0 >= clip.firstPicture })
        return try play(clip, without: lost)
    }

    private static func play(_ clip: CodedStream, without lost: Set<Int>) throws -> Outcome {
        let remains = Remains(clip, without: lost)
        var settings = DecodingSettings([.ffmpeg])
        settings.maximumLag = nil
        let source = DecodingSource(remains, settings)
        let context = SourceContext(clock: ManualClock(), logger: LogRecord().logger)
        _ = try source.open(context)
        var outcome = Outcome(lost: lost.count)
        while let frame = try source.next(context)?.frame {
            outcome.shown += 1
            let sum = frame.pts.flatMap { clip.sums[$0.ticks] }
            if sum != SourceRun.sum(of: frame) { outcome.wrong += 1 }
        }
        outcome.statistics = remains.stream.payloads
        source.close()
        return outcome
    }

    /// The encoder and options of a clip, and the least number of its 150 pictures that are shown if 1 % of the packets
    /// are lost, with any of the seeds.
    struct Coding: Sendable, CustomTestStringConvertible {
        var encoder: String
        var options: [String]
        var least = 1
        var testDescription: String { ([encoder] + options).joined(separator: " ") }
    }

    @Test(
        "With 1 % of the packets lost, each picture that is shown is correct",
        arguments: [
            Coding(encoder: "libx264", options: ["-g", "30"]),
            Coding(encoder: "libx264", options: ["-g", "30", "-x264-params", "open-gop=1"]),
            Coding(encoder: "libx264", options: ["-g", "30", "-tune", "zerolatency"]),
            Coding(encoder: "libx264", options: ["-g", "30", "-x264-params", "intra-refresh=1:bframes=0"]),
            Coding(encoder: "libx265", options: ["-g", "30", "-x265-params", "log-level=none"]),
            Coding(encoder: "libx265", options: ["-g", "30", "-x265-params", "log-level=none:open-gop=0"]),
            Coding(encoder: "libx265", options: ["-g", "30", "-x265-params", "log-level=none:bframes=0:ref=1"]),
        ])
    func onePercent(_ coding: Coding) throws {
        let folder = try TemporaryFolder()
        let clip = try CodedStream(coding.encoder, ["-b:v", "1M"] + coding.options, pictures: 150, in: folder)
        let whole = try Self.play(clip, without: [])
        #expect(whole.shown == 150 && whole.wrong == 0)
        for seed in UInt64(0)..<3 {
            let outcome = try Self.play(clip, losing: 0.01, seed: seed)
            #expect(outcome.lost > 0 && outcome.wrong == 0, "seed \(seed)")
            #expect(outcome.shown >= coding.least && outcome.shown < 150, "seed \(seed)")
        }
    }

    @Test(
        "With losses in a transport stream, each picture that is shown is correct",
        arguments: [("libx264", []), ("libx265", ["-x265-params", "log-level=none"])])
    func transportStream(_ encoder: String, _ options: [String]) throws {
        let folder = try TemporaryFolder()
        let clip = try CodedStream(
            transportStream: encoder, ["-b:v", "1M", "-g", "30"] + options, pictures: 150, in: folder)
        let whole = try Self.play(clip, without: [])
        #expect(whole.shown == 150 && whole.wrong == 0)
        for seed in UInt64(0)..<6 {
            let outcome = try Self.play(clip, losing: 0.01, seed: seed)
            #expect(outcome.lost > 0 && outcome.wrong == 0, "seed \(seed)")
            #expect(outcome.shown > 0 && outcome.shown < 150, "seed \(seed)")
        }
    }

    @Test("After a loss in a long open group of H.265, the pictures after the next key picture are shown")
    func longGroup() throws {
        let folder = try TemporaryFolder()
        // Longer than half the range of the order counts' low bits, 256 with this encoder.
        let clip = try CodedStream(
            "libx265", ["-x265-params", "log-level=none:keyint=200:min-keyint=200:scenecut=0:open-gop=1"],
            pictures: 320, size: "160x120", in: folder)
        // H.265, table 7-1: TRAIL_R, alone in a packet.
        let places = clip.packets.indices.filter { clip.packets[$0][12] >> 1 & 0x3F == 1 }
        let outcome = try Self.play(clip, without: [try #require(places.dropFirst(10).first)])
        #expect(outcome.wrong == 0)
        #expect(outcome.shown >= 110, "\(outcome)")
    }

    @Test("The loss of an H.265 picture to which no other refers affects only that picture")
    func nonReference() throws {
        let folder = try TemporaryFolder()
        let clip = try CodedStream(
            "libx265", ["-x265-params", "log-level=none:keyint=40:min-keyint=40"], pictures: 80, in: folder)
        // H.265, table 7-1: TRAIL_N, alone in a packet or in fragments, whose third byte holds the type.
        let places = clip.packets.indices.filter { index in
            let payload = clip.packets[index].dropFirst(12)
            let type = payload[12] >> 1 & 0x3F
            return type == 49 ? payload[14] & 0x3F == 0 : type == 0
        }
        try #require(places.count > 20)
        for place in places.dropFirst(10).prefix(8) {
            let outcome = try Self.play(clip, without: [place])
            #expect(outcome.shown == 79 && outcome.wrong == 0, "packet \(place)")
        }
    }
}

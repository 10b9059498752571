import FFmpegDecoder
import InletCore
import InletDecode
import InletRTP
import Logging
import ReferenceTools
import Testing

@testable import InletTesting
@testable import RTSPSource

/// Loses packets of clips that ffmpeg encoded, and compares each shown picture with ffmpeg's decoding of the whole
/// clip.
@Suite(.serialized, .blocking) struct PacketLossTests {
    /// The result of playing a clip.
    struct Outcome {
        var shown = 0
        /// Shown pictures that are marked as possibly incomplete.
        var marked = 0
        /// Unmarked pictures whose content differs from ffmpeg's.
        var wrong = 0
        var wrongMarked = 0
        /// The times of these since the clip's first picture, in pictures.
        var wrongPictures: [Int64] = []
        /// The time when the first picture was shown, by the arrival of its packets.
        var start: MonotonicTime?
        var lost = 0
        var statistics = DepacketizerStatistics()
    }

    /// A source of the access units that are left of a clip.
    private final class Remains: FrameSource {
        private let clip: CodedStream
        private let lost: Set<Int>
        let stream: MediaStream
        private var points = StartingPoints()
        private var next = 0
        /// The time of the first picture that arrives, since the clip's first one.
        var origin: Int64 = 0
        private var parameters: CodecParameters

        init(_ clip: CodedStream, without lost: Set<Int>, _ damage: DamagePolicy) {
            (self.clip, self.lost) = (clip, lost)
            let isJoined = lost.contains(0)
            parameters = CodecParameters(
                codec: clip.isHEVC ? .hevc : .h264, size: ImageSize(width: 0, height: 0),
                timeBase: Rational(1, 90_000))
            // The parameter sets are in the session description.
            if isJoined { parameters.extraData = clip.parameterSets }
            var settings = DepacketizerSettings()
            settings.damage = damage == .drop ? .drop : .pass
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
                // Pictures are much further apart than packets of one picture wait for each other.
                let time = MonotonicTime(nanoseconds: Int64(next) * 50_000_000)
                if !lost.contains(next) {
                    let packet = clip.packets[next]
                    if stream.lastArrival == nil { origin = Self.timestamp(packet) - Self.timestamp(clip.packets[0]) }
                    unsafe stream.take(packet.span.bytes, at: time, hasMore: false)
                }
                stream.idle(at: time)
                next += 1
            }
            guard let item = stream.takeUnit() else { return nil }
            return .packet(SourcePacket(item, parameters, isStart: points.isStart(item.unit)))
        }

        private static func timestamp(_ packet: [UInt8]) -> Int64 {
            packet[4..<8].reduce(0) { $0 << 8 | Int64($1) }
        }

        func close() {}
    }

    private struct Configuration: FrameSourceConfiguration {
        let make: @Sendable () -> any FrameSource
        var redactedURI: String { "clip" }
        func makeSource() -> any FrameSource { make() }
    }

    /// Loses one packet of the given number, and shows the pictures that can be shown.
    private static func play(_ clip: CodedStream, losing share: Double, seed: UInt64) throws -> Outcome {
        var random = SplitMix64(seed: seed)
        let lost = Set(clip.packets.indices.filter { random.fraction() < share && $0 >= clip.firstPicture })
        return try play(clip, without: lost)
    }

    /// - Parameter settling: the times, since the clip's first picture, at which the encoder's refresh is incomplete.
    private static func play(
        _ clip: CodedStream, without lost: Set<Int>, _ damage: DamagePolicy = .drop,
        settling: [Range<Int64>] = []
    ) throws -> Outcome {
        let remains = Remains(clip, without: lost, damage)
        var settings = DecodingSettings([.ffmpeg])
        settings.damage = damage
        settings.maximumLag = nil
        let source = DecodingSource(remains, settings)
        let context = SourceContext(clock: ManualClock(), logger: LogRecord().logger)
        _ = try source.open(context)
        var outcome = Outcome(lost: lost.count)
        while let frame = try source.next(context)?.frame {
            outcome.shown += 1
            outcome.start = outcome.start ?? frame.receiveTime
            let isMarked = frame.flags.contains(.corrupt)
            if isMarked { outcome.marked += 1 }
            let ticks = try #require(frame.pts).ticks + remains.origin
            guard clip.sums[ticks] != SourceRun.sum(of: frame), !settling.contains(where: { $0.contains(ticks) }) else {
                continue
            }
            outcome.wrongPictures.append(ticks / 3600)
            if isMarked { outcome.wrongMarked += 1 } else { outcome.wrong += 1 }
        }
        outcome.statistics = remains.stream.payloads
        source.close()
        return outcome
    }

    /// The encoding of a clip, and the minimum number of its 150 pictures that are shown with 1 % packet loss, with any
    /// of the seeds.
    struct Coding: Sendable, CustomTestStringConvertible {
        var encoder: String
        var options: [String]
        var least = 1
        /// The number of inexact pictures after decoding begins within a refresh.
        var settling: Int64 = 0
        var testDescription: String { ([encoder] + options).joined(separator: " ") }
    }

    @Test(
        "With 1 % packet loss, each shown picture is as the encoder made it",
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
        "With a lossy transport stream, each shown picture is as the encoder made it",
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
        // H.265, table 7-1: TRAIL_R, by itself in a packet.
        let places = clip.packets.indices.filter { clip.packets[$0][12] >> 1 & 0x3F == 1 }
        let outcome = try Self.play(clip, without: [try #require(places.dropFirst(10).first)])
        #expect(outcome.wrong == 0)
        #expect(outcome.shown >= 110, "\(outcome)")
    }

    @Test("Losing an unreferenced H.265 picture costs only that picture")
    func nonReference() throws {
        let folder = try TemporaryFolder()
        let clip = try CodedStream(
            "libx265", ["-x265-params", "log-level=none:keyint=40:min-keyint=40"], pictures: 80, in: folder)
        // H.265, table 7-1: TRAIL_N, by itself in a packet or in fragments, whose third byte holds the type.
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

    /// A coding without key frames after the first one, and without messages about where its picture is complete again.
    private static let unannounced = [
        Coding(encoder: "libx264", options: ["-x264-params", "intra-refresh=1:bframes=0:keyint=16"]),
        // x265's refreshed areas refer to others, so the pictures become right only after several refreshes.
        Coding(
            encoder: "libx265",
            options: [
                "-x265-params",
                "log-level=none:intra-refresh=1:bframes=0:keyint=16:no-sao=1:no-deblock=1:no-temporal-mvp=1",
            ], settling: 140),
    ]

    /// A clip, the packets before the first one of a picture in the middle of a refresh, and the time of that picture.
    private static func joined(
        _ coding: Coding, in folder: TemporaryFolder
    ) throws -> (clip: CodedStream, before: Set<Int>, time: Int64) {
        let clip = try CodedStream(
            coding.encoder, ["-b:v", "600k"] + coding.options, pictures: 400, hasMessages: false, in: folder)
        let times = clip.packets.map { $0[4..<8] }
        let starts = times.indices.dropFirst().filter { times[$0] != times[$0 - 1] }
        return (clip, Set(0..<starts[23]), 24 * 3600)
    }

    @Test(
        "A stream that is joined after its only key frame is shown in time, and complete pictures are marked as such",
        arguments: unannounced, [DamagePolicy.drop, .automatic, .mark])
    func joinedRefresh(_ coding: Coding, _ damage: DamagePolicy) throws {
        let folder = try TemporaryFolder()
        let (clip, before, time) = try Self.joined(coding, in: folder)
        let settling = damage == .mark ? [] : [time..<time + coding.settling * 3600]
        let outcome = try Self.play(clip, without: before, damage, settling: settling)
        // One packet arrives every 50 ms.
        let wait = try #require(outcome.start) - MonotonicTime(nanoseconds: Int64(before.count) * 50_000_000)
        #expect(damage == .mark ? wait < .seconds(1) : wait > .seconds(7) && wait < .seconds(9), "\(wait)")
        #expect(outcome.marked > 0)
        #expect(outcome.shown - outcome.marked > 150, "\(outcome)")
        guard damage != .mark else {
            #expect(outcome.wrongMarked > 0)
            #expect(outcome.wrong == 0 || coding.settling > 0)
            return
        }
        // Pictures are refreshed before the first one is shown.
        #expect(outcome.wrongPictures.isEmpty, "\(outcome)")
    }

    @Test("After a loss in such a stream, pictures are shown once they have been refreshed", arguments: unannounced)
    func lossInRefresh(_ coding: Coding) throws {
        let folder = try TemporaryFolder()
        let (clip, before, time) = try Self.joined(coding, in: folder)
        let whole = try Self.play(clip, without: before)
        let loss = before.count + 450
        let lossTime = clip.packets[loss][4..<8].reduce(0) { $0 << 8 | Int64($1) } - 1_000_000
        let settling = [time, lossTime].map { $0..<$0 + coding.settling * 3600 }
        let outcome = try Self.play(clip, without: before.union([loss]), settling: settling)
        #expect(outcome.wrongPictures.isEmpty, "\(outcome)")
        // One packet arrives every 50 ms, and 10 s are dropped.
        let times = Set(clip.packets[loss..<min(loss + 200, clip.packets.count)].map { $0[4..<8] })
        #expect(abs(whole.shown - outcome.shown - times.count) <= 3, "\(outcome), \(times.count)")
    }
}

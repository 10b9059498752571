#if GStreamer
import FFmpegDecoder
import InletCapture
import InletCore
import InletRTC
import PatternSource
import ReferenceTools
import Synchronization
import Testing
import WebRTCSink
import WebRTCSource

/// A session with pictures in both directions, with aiortc at the other end: it sends numbered pictures and reads
/// ours.
@Suite(
    .tags(.rtcPeer), .serialized, .timeLimit(.minutes(5)),
    .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
struct TwoWaySessionTests {
    /// Runs a session with both directions, and a capture of the peer's pictures.
    private static func with(
        _ role: PeerSessionPolicy.Role, receives: Bool = true, peer arguments: [String] = [],
        _ body: (CommandChannel, any PeerSession, RemoteRun) async throws -> Void
    ) async throws {
        try await SignalingPeerTests.with(.asSent, role, peer: ["--sends"] + arguments) {
            $0.isReceiving = receives
        } _: { channel, session in
            if role == .answering { try await channel.ask("offer") }
            try await RemoteRun(session).play { try await body(channel, session, $0) }
        }
    }

    /// Waits until further pictures have arrived in the stated directions, and none in others.
    private static func expect(
        _ stated: String, _ channel: CommandChannel, _ remote: RemoteRun
    ) async throws {
        let sends = ["sendrecv", "sendonly"].contains(stated)
        let receives = ["sendrecv", "recvonly"].contains(stated)
        if !receives { try await remote.until("an interruption") { $0.isInterrupted } }
        let still = try await Waiting.untilStill("pictures that no direction lets through") {
            let seen = try await channel.ask("report")
            return [sends ? nil : seen["pictures"]?.int, receives ? nil : remote.readings.count]
        }
        if receives { try await remote.numbers(beyond: remote.readings.count + 30) }
        if sends {
            let shown = try await channel.ask("report")["pictures"]?.int ?? 0
            _ = try await ChangedSessionTests.report(of: channel) { $0["pictures"]?.int ?? 0 >= shown + 30 }
        }
        if !sends, !receives { try await Task.sleep(for: .seconds(1)) }
        let later = try await channel.ask("report")
        if !sends { #expect(later["pictures"]?.int == still[0], "\(stated)") }
        if !receives { #expect(remote.readings.count == still[1], "\(stated)") }
        #expect(later["connections"]?.int == 1, "\(stated): \(later)")
        #expect(!remote.readings.contains(nil) && remote.openings == 1, "\(stated)")
    }

    @Test(
        "Every number is read from I420 both ways in one session, whichever side offers",
        arguments: [PeerSessionPolicy.Role.offering, .answering])
    func both(_ role: PeerSessionPolicy.Role) async throws {
        try await Self.with(role) { channel, session, remote in
            try await remote.numbers(beyond: 90)
            try await SignalingPeerTests.pictures(90, by: channel)
            let numbers = remote.readings
            #expect(!numbers.contains(nil), "\(numbers)")
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy { ($0 ?? 0) < ($1 ?? 0) }, "\(numbers)")
            let seen = try await channel.ask("report")
            #expect(seen["connections"]?.int == 1 && seen["unread"]?.int == 0 && session.state == .connected)
            #expect(seen["sdp"]?.text.contains("a=sendrecv\r\n") == true)
        }
    }

    @Test(
        "Each change of direction is one further offer, and the pictures of either way follow it",
        arguments: [PeerSessionPolicy.Role.offering, .answering])
    func directions(_ role: PeerSessionPolicy.Role) async throws {
        try await Self.with(role, receives: false) { channel, session, remote in
            var events = session.events().makeAsyncIterator()
            try await SignalingPeerTests.pictures(20, by: channel)
            var offers = try await channel.ask("report")["offers"]?.int ?? 0
            for stated in ["sendrecv", "recvonly", "inactive", "sendonly", "sendrecv"] {
                try session.configure {
                    $0.isSending = ["sendrecv", "sendonly"].contains(stated)
                    $0.isReceiving = ["sendrecv", "recvonly"].contains(stated)
                }
                while let event = await events.next() { if case .agreed = event { break } }
                offers += 1
                let seen = try await channel.ask("report")
                #expect(seen["offers"]?.int == offers && seen["sdp"]?.text.contains("a=\(stated)\r\n") == true)
                try await Self.expect(stated, channel, remote)
            }
            #expect(session.state == .connected)
        }
    }

    @Test("The peer changes the direction: this side answers what the offer allows, and pictures follow it")
    func directionsOfPeer() async throws {
        try await Self.with(.offering) { channel, session, remote in
            try await SignalingPeerTests.pictures(20, by: channel)
            try await Self.expect("sendrecv", channel, remote)
            for (number, (offered, answered)) in [
                ("recvonly", "sendonly"), ("sendonly", "recvonly"), ("inactive", "inactive"),
                ("sendrecv", "sendrecv"),
            ].enumerated() {
                try await channel.ask("direct", ["direction": .string(offered)])
                let seen = try await ChangedSessionTests.report(of: channel) { $0["answers"]?.int == number + 1 }
                #expect(seen["sdp"]?.text.contains("a=\(answered)\r\n") == true, "\(offered)")
                try await Self.expect(answered, channel, remote)
            }
            #expect(session.state == .connected)
        }
    }

    @Test("The codec of one way changes and changes back, and the other way continues")
    func codecs() async throws {
        try await Self.with(.offering) { channel, session, remote in
            try await remote.numbers(beyond: 30)
            try await SignalingPeerTests.pictures(20, by: channel)
            for codecs in [[VideoCodec.vp8, .h264], [.h264, .vp8]] {
                try session.configure { $0.codecs = codecs }
                let made = codecs[0] == .vp8 ? ["H264", "VP8"] : ["H264", "VP8", "H264"]
                _ = try await ChangedSessionTests.report(of: channel) { ChangedSessionTests.hasDecoded(made, $0) }
                // aiortc continues with its first codec, which both descriptions still contain.
                try await remote.numbers(beyond: remote.readings.count + 30)
                #expect(session.statistics.codec == codecs[0])
            }
            #expect(!remote.readings.contains(nil) && remote.openings == 1)
            let seen = try await channel.ask("report")
            #expect(seen["connections"]?.int == 1 && seen["unread"]?.int == 0 && session.state == .connected)
        }
    }

    @Test("Packets of unknown payload types and SSRCs are dropped, and the session continues")
    func strayPackets() async throws {
        try await Self.with(.offering) { channel, session, remote in
            try await remote.numbers(beyond: 30)
            for (payload, count) in [(50.0, 0.0), (127, 0), (50, 200), (96, 200)] {
                try await channel.ask("stray", ["payload": .number(payload), "count": .number(count)])
                try await remote.numbers(beyond: remote.readings.count + 30)
            }
            let seen = try await Self.reported(channel, remote)
            // The SSRC of the pictures, and that of retransmitted packets.
            #expect((1...2).contains(seen["reported"]?.int ?? 0), "\(seen)")
            #expect(seen["connections"]?.int == 1 && session.state == .connected)
        }
    }

    /// Returns the peer's report after two more receiver reports of this side.
    private static func reported(
        _ channel: CommandChannel, _ remote: RemoteRun
    ) async throws -> ReferenceTools.PeerMessage {
        var seen = try await channel.ask("report")
        let before = seen["reports"]?.int ?? 0
        for _ in 0..<300 where seen["reports"]?.int ?? 0 < before + 2 {
            try await remote.numbers(beyond: remote.readings.count + 10)
            seen = try await channel.ask("report")
        }
        #expect(seen["reports"]?.int ?? 0 >= before + 2)
        return seen
    }

    @Test(
        "A peer that uses other SSRCs a dozen times is received, whether or not its offers name them",
        arguments: [true, false])
    func renewedSources(isNamed: Bool) async throws {
        try await Self.with(.offering) { channel, session, remote in
            try await remote.numbers(beyond: 30)
            for number in 1...12 {
                try await channel.ask("renew", ["is_named": .bool(isNamed)])
                _ = try await ChangedSessionTests.report(of: channel) { $0["answers"]?.int == number }
                try await remote.numbers(beyond: remote.readings.count + 10)
            }
            #expect(!remote.readings.contains(nil) && remote.openings == 1)
            #expect(try await channel.ask("report")["connections"]?.int == 1 && session.state == .connected)
        }
    }

    @Test("Eight SSRCs that no description names are received after each description")
    func unnamedSources() async throws {
        try await Self.with(.offering) { channel, session, remote in
            try await remote.numbers(beyond: 30)
            try await channel.ask("renew", ["is_named": .bool(false)])
            _ = try await ChangedSessionTests.report(of: channel) { $0["answers"]?.int == 1 }
            try await remote.numbers(beyond: remote.readings.count + 30)
            try await channel.ask("stray", ["payload": .number(50), "count": .number(200)])
            let seen = try await Self.reported(channel, remote)
            // The count includes the peer's original SSRCs.
            #expect((3...10).contains(seen["reported"]?.int ?? 0), "\(seen)")
            #expect(seen["connections"]?.int == 1 && session.state == .connected)
        }
    }

    @Test("A session has one source at a time, which ends with the session but does not end it when closed")
    func sources() async throws {
        try await Self.with(.offering) { channel, session, remote in
            try await remote.numbers(beyond: 30)
            let error = await #expect(throws: InletError.self) {
                try await Capturer(RemoteRun.source(of: session), configuration: RemoteRun.noRetry).run()
            }
            #expect(error?.code == .busy)
            remote.stop()
            // The first capture's source is closed as soon as the next can be opened.
            let next = RemoteRun(session)
            try await next.play { next in
                try await next.numbers(beyond: 30)
                #expect(session.state == .connected)
            }
            session.close()
            for await case .state(.ended) in session.events() { break }
            let ended = await #expect(throws: InletError.self) {
                try await Capturer(RemoteRun.source(of: session), configuration: RemoteRun.noRetry).run()
            }
            #expect(ended?.code == .disconnected)
        }
    }
}

/// A capture of a session's peer that reads the numbers in the pictures.
final class RemoteRun: Sendable {
    private let capturer: Capturer
    private let log: NumberSink.Log

    static func source(of session: any PeerSession) -> RemoteTrackConfiguration {
        var source = RemoteTrackConfiguration(session)
        source.decoders = [.ffmpeg]
        // Every picture, even on a busy machine.
        source.track.maximumLag = .zero
        return source
    }

    static var noRetry: CapturerConfiguration {
        var configuration = CapturerConfiguration()
        configuration.retry = .never
        return configuration
    }

    init(_ session: any PeerSession) {
        var configuration = CapturerConfiguration()
        configuration.retry.firstDelay = .milliseconds(50)
        capturer = Capturer(Self.source(of: session), configuration: configuration)
        log = NumberSink.Log()
        capturer.attach(NumberSink(log), queue: .lossless(64))
    }

    /// The number in each picture; nil if it cannot be read.
    var readings: [Int?] { log.readings.withLock { $0 } }
    /// The PTS of each picture, in microseconds.
    var times: [Int] { log.times.withLock { $0 } }
    /// Whether the peer has stopped sending.
    var isInterrupted: Bool { if case .interrupted = capturer.state { true } else { false } }
    /// How many times the source was opened.
    var openings: UInt64 { capturer.statistics.supervision.openings }

    func stop() { capturer.stop() }

    /// Runs while `body` runs.
    func play(_ body: (RemoteRun) async throws -> Void) async throws {
        async let outcome = capturer.run()
        do {
            try await body(self)
        } catch {
            capturer.stop()
            _ = try? await outcome
            throw error
        }
        capturer.stop()
        _ = try? await outcome
    }

    func numbers(beyond count: Int) async throws {
        try await until("more than \(count) pictures of the peer") { $0.readings.count > count }
    }

    func until(_ what: String, _ isSo: (RemoteRun) -> Bool) async throws {
        try await Waiting.until(what, progress: { self.readings.count }) { isSo(self) }
    }
}

/// Records the number of each picture.
private final class NumberSink: FrameSink {
    final class Log: Sendable {
        let readings = Mutex<[Int?]>([])
        let times = Mutex<[Int]>([])
    }
    private let log: Log

    init(_ log: Log) { self.log = log }

    func consume(_ frame: VideoFrame) {
        let number = TimecodeReader.read(frame.buffer).map { Int($0.frame) }
        log.times.withLock { $0.append(Int((frame.pts?.seconds ?? 0) * 1_000_000)) }
        log.readings.withLock { $0.append(number) }
    }
}
#endif

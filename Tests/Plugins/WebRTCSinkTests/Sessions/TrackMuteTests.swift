#if GStreamer
import FFmpegSink
import InletCapture
import InletCore
import InletRTC
import PatternSource
import ReferenceTools
import Testing
import WebRTCSink

/// One track's handle for every output: viewers, a media server, and peers.
@Suite(
    .tags(.rtcPeer), .serialized, .timeLimit(.minutes(5)),
    .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
struct TrackMuteTests {
    private static let source = PatternConfiguration(
        .timecode, size: ImageSize(width: 640, height: 480), frameRate: Rational(30))
    private static let name = TrackName(stream: "studio", track: "camera-1")

    /// Makes a track show all of its states, and compares the peer's pictures.
    private static func steer(
        _ track: any VideoTrack, of capturer: Capturer, seenBy peer: PeerProcess, silence: () -> Void
    ) async throws {
        func sees(_ kind: String, _ count: Int) async throws {
            var seen: ReferenceTools.PeerMessage = [:]
            // Repeats short requests, because signaling uses the peer in between.
            for _ in 0..<2000 {
                seen = try peer.send("report")
                if seen["shown"]?.text == kind, seen["run"]?.int ?? 0 >= count { return }
                try await Task.sleep(for: .milliseconds(10))
            }
            Issue.record("The peer does not see \(kind): \(seen)")
        }
        func captured(_ count: UInt64) async throws {
            let end = capturer.statistics.captured + count
            while capturer.statistics.captured < end { try await Task.sleep(for: .milliseconds(10)) }
        }
        try await sees("number", 20)
        track.isEnabled = false
        try await sees("black", 5)
        track.disabledPicture = .text
        try await sees("text", 3)
        silence()
        // Pictures on their way arrive meanwhile.
        try await captured(20)
        let before = try peer.send("report")["pictures"]
        try await captured(30)
        #expect(try peer.send("report")["pictures"] == before)
        track.publish()
        track.isEnabled = true
        try await sees("number", 20)
        let report = try peer.send("report")
        #expect(report["sessions"]?.int == 1)
        #expect(report["sdp"]?.text.contains("a=msid:studio camera-1\r\n") == true)
    }

    @Test("A viewer sees black, text, nothing and pictures in one session")
    func viewer() async throws {
        try await ViewerRun.with(size: ImageSize(width: 640, height: 480)) {
            $0.trackName = Self.name
        } _: { run in
            let peer = try await aside {
                try PeerProcess("whep-watcher.py", [run.address + "/whep"], python: ViewerRun.aiortcPython)
            }
            try await Self.steer(run.broadcast, of: run.capturer, seenBy: peer) {
                run.broadcast.disabledPicture = .nothing
            }
        }
    }

    @Test("A media server sees black, text, nothing and pictures in one session")
    func server() async throws {
        let server = try await aside { try WHIPServer(python: ViewerRun.aiortcPython) }
        var sink = WHIPSinkConfiguration(server.address + "/whip") { FFmpegVideoEncoder() }
        sink.trackName = Self.name
        let track = sink.track
        try await Self.run(sink) { capturer in
            try await Self.steer(track, of: capturer, seenBy: server.process) { track.unpublish() }
        }
    }

    @Test("A peer sees black, text, nothing and pictures in one session")
    func peer() async throws {
        let publisher = PeerPublisher(trackName: Self.name) { FFmpegVideoEncoder() }
        try await Self.run(PeerSinkConfiguration(publisher)) { capturer in
            let channel = try await aside { try CommandChannel(.asSent, python: ViewerRun.aiortcPython) }
            var policy = PeerSessionPolicy(role: .offering, name: "test")
            policy.trickles = true
            let session = try publisher.connect(channel, policy)
            // Signaling commands continue meanwhile.
            let peer = try #require(channel.peer)
            // Runs with the first description and with each further one.
            try await Self.steer(publisher.track, of: capturer, seenBy: peer) { publisher.track.unpublish() }
            #expect(session.state == .connected)
        }
    }

    /// Runs a capture with a sink while `body` runs.
    private static func run(
        _ sink: any FrameSinkConfiguration, _ body: (Capturer) async throws -> Void
    ) async throws {
        let capturer = Capturer(source)
        capturer.attach(sink)
        async let outcome = capturer.run()
        do {
            try await body(capturer)
        } catch {
            capturer.stop()
            _ = try? await outcome
            throw error
        }
        capturer.stop()
        _ = try await outcome
    }
}
#endif

#if GStreamer
import FFmpegSink
import FFmpegSource
import InletCapture
import InletCore
import InletRTC
import ReferenceTools
import Testing
import WebRTCSink

/// A camera's packets on their way to a media server and to a peer, compared bit by bit.
@Suite(
    .tags(.rtcPeer, .server), .serialized, .timeLimit(.minutes(3)),
    .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"),
    .enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"))
struct PassThroughPeerTests {
    @Test(
        "A media server and a peer get the camera's own slices, undecoded; one that refuses them does not"
    )
    func slices() async throws {
        let folder = try TemporaryFolder()
        let (clip, raw) = (folder.path("clip.mp4"), folder.path("clip.h264"))
        try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=30", "-t", "90", "-c:v", "libx264", "-profile:v",
            "baseline", "-preset", "ultrafast", "-g", "15", "-b:v", "300k", "-pix_fmt", "yuv420p", clip,
        ])
        try ReferenceCommand.ffmpeg(["-i", clip, "-c", "copy", "-f", "h264", raw])
        let camera = try RTSPServer.file(clip)
        let server = try await aside { try WHIPServer(python: ViewerRun.aiortcPython, slices: raw) }
        let other = try await aside { try WHIPServer(python: ViewerRun.aiortcPython, slices: raw) }
        let channel = try await aside {
            try CommandChannel(.asSent, python: ViewerRun.aiortcPython, ["--slices", raw])
        }
        let peer = try #require(channel.peer)

        var rates = RTCConfiguration().rates
        // A busy machine must not reduce the rate below the camera's.
        (rates.minimum, rates.start, rates.maximum) = (4_000_000, 4_000_000, 4_000_000)
        var sink = WHIPSinkConfiguration(server.address + "/whip") { FFmpegVideoEncoder() }
        sink.rates = rates
        let publisher = PeerPublisher(rates: rates) { FFmpegVideoEncoder() }
        let capturer = Capturer(FFmpegNetworkConfiguration(url: camera.url))
        capturer.attach(sink)
        capturer.attach(PeerSinkConfiguration(publisher))
        async let outcome = capturer.run()
        do {
            var policy = PeerSessionPolicy(role: .offering, name: "test")
            policy.trickles = true
            _ = try publisher.connect(channel, policy)
            // The camera's format is known after two key frames; until then its pictures are encoded.
            for each in [server.process, peer] {
                try await Self.expect(each) { $0.slices >= 60 && $0.strange == 0 }
            }
            let before = capturer.statistics.delivered
            for each in [server.process, peer] {
                try await Self.expect(each) { $0.slices >= 60 && $0.strange == 0 }
            }
            #expect(capturer.statistics.delivered == before)
            // Encoded slices never equal the file's, so the comparison can tell them apart.
            var encoded = WHIPSinkConfiguration(other.address + "/whip") { FFmpegVideoEncoder() }
            encoded.passesThrough = false
            capturer.attach(encoded)
            try await Self.expect(other.process) { $0.slices >= 30 && $0.strange == $0.slices }
        } catch {
            capturer.stop()
            _ = try? await outcome
            throw error
        }
        capturer.stop()
        _ = try await outcome
    }

    @Test("H.264 with pixels that are not square is encoded, and arrives with square ones in the same shape")
    func pixelShape() async throws {
        let folder = try TemporaryFolder()
        let (clip, raw) = (folder.path("clip.mp4"), folder.path("clip.h264"))
        // PAL in 16:9: 720 pixels of 64:45 are as wide as 1024 square ones.
        try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=720x576:rate=15,setsar=64/45", "-t", "60", "-c:v", "libx264",
            "-profile:v", "baseline", "-preset", "ultrafast", "-g", "15", "-b:v", "1M", "-pix_fmt", "yuv420p", clip,
        ])
        try ReferenceCommand.ffmpeg(["-i", clip, "-c", "copy", "-f", "h264", raw])
        let camera = try RTSPServer.file(clip)
        let server = try await aside { try WHIPServer(python: ViewerRun.aiortcPython, slices: raw) }
        var sink = WHIPSinkConfiguration(server.address + "/whip") { FFmpegVideoEncoder() }
        // A busy machine must not reduce the size.
        (sink.rates.minimum, sink.rates.start, sink.rates.maximum) = (4_000_000, 4_000_000, 4_000_000)
        let capturer = Capturer(FFmpegNetworkConfiguration(url: camera.url))
        capturer.attach(sink)
        async let outcome = capturer.run()
        do {
            // Longer than the two groups of pictures after which packets would be passed on.
            for _ in 0..<2 {
                try await Self.expect(server.process) { $0.slices >= 60 && $0.strange == $0.slices }
            }
            #expect(try await aside { try server.pictures(0) }.size == "1024x576")
        } catch {
            capturer.stop()
            _ = try? await outcome
            throw error
        }
        capturer.stop()
        _ = try await outcome
    }

    /// Resets the peer's counts until it has enough, then checks the counts since.
    private static func expect(
        _ peer: PeerProcess, _ isRight: ((slices: Int, strange: Int)) -> Bool,
        _ sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var seen = (slices: 0, strange: 0)
        for _ in 0..<10 {
            _ = try await Self.slices(of: peer, forget: true)
            for _ in 0..<400 {
                seen = try await Self.slices(of: peer, forget: false)
                if seen.slices >= 60 { break }
                try await Task.sleep(for: .milliseconds(20))
            }
            if isRight(seen) { return }
        }
        Issue.record("\(seen)", sourceLocation: sourceLocation)
    }

    private static func slices(of peer: PeerProcess, forget: Bool) async throws -> (slices: Int, strange: Int) {
        let message = try await aside { try peer.send("slices", ["forget": .bool(forget)]) }
        return (message["slices"]?.int ?? 0, message["strange"]?.int ?? -1)
    }
}
#endif

#if GStreamer
import FFmpegSink
import FFmpegSource
import Foundation
import InletCapture
import InletCore
import InletRTC
import ReferenceTools
import Testing
import WebRTCSink

/// Pictures from network cameras, shown by a browser.
@Suite(.tags(.chromium, .rtcPeer, .server), .serialized) struct ViewerSourceTests {
    @Test(
        "An RTSP camera is shown by Chromium, and its frame numbers are read from the picture",
        .enabled(if: ViewerRun.hasBrowser, "chromedriver is not installed; Scripts/bootstrap --test installs it"),
        .enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"))
    func camera() async throws {
        struct Shown: Decodable {
            var size: String?
            var unread: Int
            var numbers: [Int]
            var state: String
        }
        let camera = try RTSPServer.live(.h264)
        try await ViewerRun.with(source: FFmpegNetworkConfiguration(url: camera.url)) { run in
            let shown: Shown = try await ViewerRun.peer(
                "whep-browser.py", python: "/usr/bin/python3", [run.address + "/"])
            #expect(shown.size == "640x480")
            #expect(shown.unread == 0)
            #expect(shown.numbers.count >= 20)
            #expect(shown.numbers == shown.numbers.sorted())
            #expect(shown.state == "live")
        }
    }

    @Test(
        "A camera's packets go undecoded to viewers that accept them; they are decoded once another viewer joins",
        .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"),
        .enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"))
    func passThrough() async throws {
        struct Seen: Decodable {
            var count: Int?
            var unread: Int
            var rises: Bool?
            var error: String?
        }
        func look(_ run: ViewerRun, _ arguments: [String]) async throws -> UInt64 {
            let before = run.capturer.statistics.delivered
            let seen: Seen = try await ViewerRun.peer(
                "whep-viewer.py", python: ViewerRun.aiortcPython,
                [run.address + "/whep", "--frames", "60"] + arguments)
            #expect(seen.error == nil)
            #expect(seen.count == 60)
            #expect(seen.unread == 0)
            #expect(seen.rises == true)
            return run.capturer.statistics.delivered - before
        }
        let camera = try RTSPServer.live(.h264)
        try await ViewerRun.with(
            source: FFmpegNetworkConfiguration(url: camera.url),
            change: { sink in
                // aiortc reports no arrivals, so the rate is set from the start.
                sink.rates.maximum = 5_000_000
                sink.rates.start = 5_000_000
            }
        ) { run in
            // The camera's format is known after two key frames, which are a second apart.
            while run.capturer.statistics.captured < 75 { try await Task.sleep(for: .milliseconds(20)) }
            #expect(try await look(run, []) == 0)
            #expect(try await look(run, ["--without", "H264"]) >= 60)
            // On a busy machine the camera sends late key frames, and its pictures are encoded meanwhile.
            var decoded = try await look(run, [])
            for _ in 0..<5 where decoded >= 60 { decoded = try await look(run, []) }
            #expect(decoded < 60)
        }
    }

    @Test(
        "A viewer of a camera's own packets changes to an encoding slower than the pictures' spacing",
        .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"),
        .enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"), .timeLimit(.minutes(5)))
    func changesOver() async throws {
        struct Seen: Decodable {
            var sizes: [String]?
            var unread: Int
            var repeated: Int?
            var back: Int?
            var error: String?
        }
        let camera = try RTSPServer.live(.h264)
        try await ViewerRun.with(
            source: FFmpegNetworkConfiguration(url: camera.url),
            change: { sink in
                sink.makeEncoder = { SlowEncoder() }
                sink.rates.maximum = 5_000_000
                sink.rates.start = 5_000_000
            }
        ) { run in
            while run.capturer.statistics.captured < 75 { try await Task.sleep(for: .milliseconds(20)) }
            async let seen: Seen = ViewerRun.peer(
                "whep-viewer.py", python: ViewerRun.aiortcPython, [run.address + "/whep", "--frames", "150"])
            while (run.broadcast.viewers.first?.framesSent ?? 0) < 30 {
                try await Task.sleep(for: .milliseconds(20))
            }
            // Packets cannot be scaled.
            try run.broadcast.adapt(width: 320, height: 240)
            let found = try await seen
            #expect(found.error == nil)
            #expect(found.sizes == ["640x480", "320x240"])
            #expect(found.unread == 0)
            // A picture has a later time than its packet, so the last sent picture may appear twice.
            #expect(found.back == 0)
            #expect(try #require(found.repeated) <= 1)
        }
    }

    /// Takes 100 milliseconds for each picture, in which three more arrive.
    private final class SlowEncoder: VideoEncoder {
        private let inner = FFmpegVideoEncoder()

        func open(_ format: VideoFormat, _ settings: EncoderSettings) throws -> CodecParameters {
            try inner.open(format, settings)
        }

        func encode(_ frame: VideoFrame, wantsKeyFrame: Bool) throws -> [EncodedPacket] {
            Thread.sleep(forTimeInterval: 0.1)
            return try inner.encode(frame, wantsKeyFrame: wantsKeyFrame)
        }

        func change(bitrate: Int?, frameRate: Rational?) throws {
            try inner.change(bitrate: bitrate, frameRate: frameRate)
        }

        func flush() throws -> [EncodedPacket] { try inner.flush() }
    }
}
#endif

#if GStreamer
import Foundation
import InletCapture
import InletCore
import InletRTC
import ReferenceTools
import Testing
import WebRTCSink

/// Codecs and tiers with real peers.
@Suite(.tags(.chromium, .rtcPeer), .serialized) struct EncodingPeerTests {
    struct Seen: Decodable {
        var sizes: [String]?
        var unread: Int
        var count: Int?
        var missing: Int?
        var rises: Bool?
        var error: String?
    }
    private static let hint: Comment = "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"

    private func watch(_ run: ViewerRun, _ arguments: [String]) async throws -> Seen {
        try await ViewerRun.peer(
            "whep-viewer.py", python: ViewerRun.aiortcPython, [run.address + "/whep"] + arguments)
    }

    /// Waits until the server has viewers of these codecs.
    private func wait(for codecs: [String], _ run: ViewerRun) async throws {
        struct Statistics: Decodable {
            struct Viewer: Decodable { var codec: String }
            var viewers: [Viewer]
        }
        while true {
            try Task.checkCancellation()
            let text = try await run.curl([], "/stats.json")
            let viewers = try JSONDecoder().decode(Statistics.self, from: Data(text.utf8)).viewers
            if viewers.map(\.codec).sorted() == codecs { return }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test(
        "A viewer without H.264 gets VP8 next to viewers with it, and every number is right",
        .enabled(if: ViewerRun.hasAiortc, hint), .timeLimit(.minutes(5)))
    func codecs() async throws {
        try await ViewerRun.with(size: ImageSize(width: 320, height: 240)) { run in
            async let first = watch(run, ["--frames", "300", "--without", "H264"])
            async let second = watch(run, ["--frames", "300", "--without", "VP8"])
            try await wait(for: ["h264", "vp8"], run)
            for seen in try await [first, second] {
                #expect(seen.error == nil)
                #expect(seen.sizes == ["320x240"])
                #expect(seen.count == 300)
                #expect(seen.unread == 0)
                #expect(seen.rises == true)
            }
        }
    }

    @Test(
        "Chromium without H.264 shows VP8, with the right numbers",
        .enabled(if: ViewerRun.hasBrowser, "chromedriver is not installed; Scripts/bootstrap --test installs it"))
    func browser() async throws {
        struct Shown: Decodable {
            struct Statistics: Decodable { var codec: String }
            var size: String?
            var numbers: [Int]
            var statistics: Statistics?
        }
        try await ViewerRun.with { run in
            let shown: Shown = try await ViewerRun.peer(
                "whep-browser.py", python: "/usr/bin/python3", [run.address + "/", "--without", "H264"])
            #expect(shown.statistics?.codec == "video/VP8")
            #expect(shown.size == "640x480")
            #expect(shown.numbers.count >= 20)
            #expect(shown.numbers == shown.numbers.sorted())
        }
    }

    @Test(
        "A viewer goes from the small picture to the large one, and no picture is lost or out of order",
        .enabled(if: ViewerRun.hasAiortc, hint), arguments: ["H264", "VP8"])
    func tiers(without codec: String) async throws {
        try await ViewerRun.with(change: { configuration in
            // Rate control by loss, because this viewer doesn't report on each packet; control by delay would take
            // longer.
            configuration.rateControl = .loss
            (configuration.rates.minimum, configuration.rates.start) = (50_000, 100_000)
            configuration.rates.stepUp = 1
            // Reports come about every second, so each window contains at least one.
            (configuration.rates.interval, configuration.rates.window) = (.seconds(1), .seconds(3))
        }) { run in
            let seen = try await watch(run, ["--frames", "300", "--without", codec])
            #expect(seen.error == nil)
            #expect(seen.sizes?.first == "320x240")
            #expect(seen.sizes?.last == "640x480")
            #expect(seen.unread == 0)
            #expect(seen.rises == true)
            // These drops include frames that a busy machine skipped.
            let dropped = run.capturer.statistics.drops.values.reduce(0, +)
            #expect(UInt64(seen.missing ?? .max) <= UInt64(dropped))
        }
    }
}
#endif

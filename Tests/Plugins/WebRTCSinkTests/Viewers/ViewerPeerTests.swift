#if GStreamer
import Foundation
import InletCapture
import InletCore
import ReferenceTools
import Testing

/// Real peers: aiortc and Chromium.
@Suite(.tags(.chromium, .rtcPeer), .serialized) struct ViewerPeerTests {
    struct Seen: Decodable {
        struct Other: Decodable {
            var status: Int
            var first: Double?
            var count: Int?
            var error: String?
        }
        var status: Int
        var size: String?
        var unread: Int
        var count: Int?
        var missing: Int?
        var rises: Bool?
        var deleted: Int?
        var error: String?
        var others: [Other]?
    }

    @Test(
        "aiortc reads every frame number that was sent, in order",
        .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
    func numbers() async throws {
        try await ViewerRun.with { run in
            let seen: Seen = try await ViewerRun.peer(
                "whep-viewer.py", python: ViewerRun.aiortcPython, [run.address + "/whep", "--frames", "120"])
            #expect(seen.error == nil)
            #expect(seen.status == 201)
            #expect(seen.size == "640x480")
            #expect(seen.count == 120)
            #expect(seen.unread == 0)
            #expect(seen.rises == true)
            // These drops include frames that a busy machine skipped.
            let dropped = run.capturer.statistics.drops.values.reduce(0, +)
            #expect(UInt64(seen.missing ?? .max) <= UInt64(dropped))
            #expect(seen.deleted == 200)
            #expect(try await run.curl([], "/stats.json") == #"{"viewers":[]}"#)
        }
    }

    @Test(
        "Through a link that loses 5 % of the packets no picture is broken or out of order",
        .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
    func loss() async throws {
        try await ViewerRun.with { run in
            let seen: Seen = try await ViewerRun.peer(
                "whep-viewer.py", python: ViewerRun.aiortcPython,
                [run.address + "/whep", "--frames", "120", "--loss", "5"])
            #expect(seen.error == nil)
            #expect(seen.count == 120)
            #expect(seen.unread == 0)
            #expect(seen.rises == true)
        }
    }

    @Test(
        "Eight viewers that join at once all get a picture, from one encoder",
        .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
    func crowd() async throws {
        try await ViewerRun.with(size: ImageSize(width: 320, height: 240)) { run in
            let seen: Seen = try await ViewerRun.peer(
                "whep-viewer.py", python: ViewerRun.aiortcPython,
                [run.address + "/whep", "--frames", "20", "--viewers", "8"])
            #expect(seen.count == 20)
            #expect(seen.others?.count == 7)
            for other in seen.others ?? [] {
                #expect(other.status == 201)
                #expect(other.count == 20)
                #expect(other.error == nil)
            }
        }
    }

    @Test(
        "Chromium shows the picture: its numbers are read from a canvas",
        .enabled(if: ViewerRun.hasBrowser, "chromedriver is not installed; Scripts/bootstrap --test installs it"))
    func browser() async throws {
        struct Shown: Decodable {
            var size: String?
            var numbers: [Int]
            var state: String
            var trouble: String
        }
        try await ViewerRun.with(token: "let-me-in") { run in
            let shown: Shown = try await ViewerRun.peer(
                "whep-browser.py", python: "/usr/bin/python3", [run.address + "/?token=let-me-in"])
            #expect(shown.size == "640x480")
            #expect(shown.numbers.count >= 20)
            #expect(shown.numbers == shown.numbers.sorted())
            #expect(shown.state == "live")
            #expect(shown.trouble == "")
        }
    }
}
#endif

#if GStreamer
import Foundation
import Inlet
import ReferenceTools
import Testing

/// Chromium in a Janus room with `inlet run` and a capture: each sees the other's stream, in any order, and after
/// the browser was killed.
@Suite(
    .tags(.chromium, .rtcPeer), .serialized, .timeLimit(.minutes(3)),
    .enabled(if: JanusServer.missing == nil, "\(JanusServer.missing ?? "")"),
    .enabled(if: CameraBrowser.missing == nil, "\(CameraBrowser.missing ?? "")"))
struct JanusBrowserTests {
    /// Waits until the page shows numbers that change, of the host's size.
    private static func seen(_ browser: CameraBrowser, _ round: String) async throws {
        var numbers: Set<Int> = []
        try await Waiting.until("\(round): numbers in the page", progress: { numbers.count }) {
            let (size, number) = try browser.read("theirs")
            if size == "320x240", let number { numbers.insert(number) }
            return numbers.count >= 5
        }
    }

    @Test("Chromium sees and is seen in any order; when killed, its absence is reported, and it comes back")
    func orders() async throws {
        let folder = try TemporaryFolder()
        let janus = try JanusServer()
        defer { janus.stop() }
        let browser = try CameraBrowser(
            page: "janus-guest.html",
            flags: ["--allow-loopback-in-peer-connection", "--autoplay-policy=no-user-gesture-required"])
        defer { browser.stop() }
        let address = "\(try #require(browser.page))?server=ws://127.0.0.1:\(janus.port)/&room=1234&display=browser"

        // The browser is first.
        try browser.open(address)
        try await Waiting.until("the page in the room", progress: { 0 }) {
            try browser.evaluate("return window.story.state").text == "joined"
        }
        let host = try CallProcess(
            [
                "run", "pattern:timecode?size=320x240&fps=30", "--to", "\(janus.address)?room=1234&display=door",
                "--report", "none",
            ], in: folder, isTimed: false)
        defer { host.kill() }
        let watcher = try NetworkRun(
            "\(janus.address)?room=1234&display=browser&read-timeout=2s&connect-timeout=8s",
            retry: NetworkRun.quickRetry)
        var (hosts, servers, own) = (RoundUsage(), RoundUsage(), RoundUsage())
        func note() {
            hosts.note(host.identifier)
            servers.note(janus.identifier)
            own.note()
        }
        _ = try await watcher.play { watcher in
            try await Self.seen(browser, "browser first")
            try await watcher.frames(beyond: 30)
            note()
            for round in 1..<RoundUsage.rounds(by: 3) {
                let (failures, count) = (watcher.failures.count, watcher.log.readings.count)
                try browser.kill()
                try await Waiting.until("round \(round): the end", progress: { watcher.events.count }) {
                    watcher.failures.count > failures
                }
                // The host publishes and the watcher waits before the browser comes back.
                try browser.open(address)
                try await Self.seen(browser, "round \(round)")
                try await watcher.frames(beyond: count + 30)
                note()
            }
        }
        let codes: Set<InletError.Code> = [.timedOut, .disconnected, .sessionLost, .notFound]
        #expect(watcher.failures.allSatisfy { codes.contains($0.code) }, "\(watcher.failures)")
        #expect(watcher.log.readings.allSatisfy { $0.number != nil }, "unreadable pictures")
        hosts.expectNoGrowth("host")
        servers.expectNoGrowth("janus")
        own.expectNoGrowth("watcher")
    }
}
#endif

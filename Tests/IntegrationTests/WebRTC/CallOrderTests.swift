#if GStreamer
import Foundation
import Inlet
import ReferenceTools
import Testing

/// `inlet call` as a process and Chromium at a room's page: in any order, and after either is killed, the two are
/// connected in the end or get a reason.
@Suite(.tags(.chromium), .serialized, .enabled(if: CameraBrowser.missing == nil, "\(CameraBrowser.missing ?? "")"))
struct CallOrderTests {
    private static let page = "return document.getElementById('state').textContent"

    private static func state(_ browser: CameraBrowser, _ state: String) async throws {
        try await Waiting.until("the page \(state)", progress: { 0 }) {
            (try? browser.evaluate(page).text) == state
        }
    }

    @Test("Process first, page first, both at once; the process, then the browser killed and back; the page left")
    func orders() async throws {
        let folder = try TemporaryFolder()
        let port = try FreePort.find()
        let server = try CallProcess(["signal", "127.0.0.1:\(port)"], in: folder)
        defer { server.stop() }
        try await server.said("ws://")
        let browser = try CameraBrowser()
        defer { browser.stop() }
        let lobby = "http://127.0.0.1:\(port)/lobby?id=ben&auto"
        func call(_ duration: String? = nil, isTimed: Bool = true) throws -> CallProcess {
            try CallProcess(
                [
                    "call", "ben", "pattern:timecode?size=320x240&fps=30", "--as", "anna", "--report", "json",
                    "--signal", "ws://127.0.0.1:\(port)/lobby",
                ] + (duration.map { ["--duration", $0] } ?? []), in: folder, isTimed: isTimed)
        }
        func expectHungUp(_ call: CallProcess, _ order: String) async throws {
            let end = try await call.end()
            #expect(end.status == 0 && end.story.ended.why == "hungUp", "\(order): \(call.text)")
            #expect(end.story.ended.by == "anna" && end.story.received > 0, "\(order): \(call.text)")
        }

        // The process is first, and calls a name that is not there yet. Chromium is started before that: its start
        // can take longer than a caller waits for a response.
        func load(_ address: String) throws { _ = try browser.evaluate("location.href = '\(address)'") }
        try browser.open("http://127.0.0.1:\(port)/")
        var caller = try call("500ms")
        try await caller.said("ben: calling")
        try load(lobby)
        try await expectHungUp(caller, "process first")
        // The page is connected.
        caller = try call("500ms")
        try await expectHungUp(caller, "page first")
        // Both at once.
        try browser.kill()
        try browser.open("http://127.0.0.1:\(port)/")
        caller = try call("500ms")
        try load(lobby)
        try await expectHungUp(caller, "at once")

        // The process is killed during a call: the page is notified, and takes the next call.
        caller = try call(isTimed: false)
        try await caller.said("ben: connected")
        try await Self.state(browser, "connected")
        caller.kill()
        caller = try call(isTimed: false)
        defer { caller.stop() }
        try await caller.said("ben: connected")
        let ended = try browser.evaluate("return window.reports.at(-1).ended")
        #expect(ended["why"]?.text == "failed" && ended["by"]?.text == "anna", "\(ended)")

        // The browser is killed: the process ends with a stated reason, and a new call succeeds.
        try browser.kill()
        let end = try await caller.end()
        #expect(end.status == 74 && end.story.ended.why == "failed", "\(caller.text)")
        #expect(end.story.ended.detail?.isEmpty == false)
        try browser.open(lobby)
        let last = try call()
        defer { last.stop() }
        try await last.said("ben: connected")
        // The page sends a goodbye when it is closed.
        try load("about:blank")
        let left = try await last.end()
        #expect(
            left.status == 0 && left.story.ended.why == "hungUp" && left.story.ended.by == "ben", "\(last.text)")
    }
}
#endif

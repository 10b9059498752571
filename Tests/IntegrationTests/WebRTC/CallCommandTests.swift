#if GStreamer
import Foundation
import Inlet
import ReferenceTools
import Testing

/// Two processes, `inlet call` and `inlet answer`, in a room of `inlet signal`: both ends report the same outcome.
@Suite(.tags(.chromium, .rtcPeer), .serialized)
struct CallCommandTests {
    /// One case: the actions of both, the outcome, and the exit status of each.
    private struct Case {
        var name: String
        var call: [String] = []
        var answer: [String] = []
        /// Interrupts the caller when it rings.
        var cancels = false
        var end: (by: String, why: String, detail: String?, retryAfter: Int?)
        var statuses: (call: Int32, answer: Int32)
    }

    private static let cases = [
        Case(
            name: "the caller hangs up", call: ["--duration", "5"], answer: ["--auto"],
            end: ("anna", "hungUp", nil, nil), statuses: (0, 0)),
        Case(
            name: "the other side hangs up", answer: ["--auto", "--duration", "5"],
            end: ("ben", "hungUp", nil, nil), statuses: (0, 0)),
        Case(
            name: "declined", answer: ["--decline", "--reason", "not now"],
            end: ("ben", "declined", "not now", nil), statuses: (77, 0)),
        Case(
            name: "busy", answer: ["--busy", "--retry-after", "60"], end: ("ben", "busy", nil, 60),
            statuses: (75, 0)),
        Case(name: "missed", call: ["--ring", "1"], end: ("ben", "missed", nil, nil), statuses: (69, 69)),
        Case(name: "cancelled", cancels: true, end: ("anna", "cancelled", nil, nil), statuses: (130, 69)),
    ]

    @Test("Ring, accept, decline, busy, missed, cancelled and hung up: both processes report the same end")
    func stories() async throws {
        let folder = try TemporaryFolder()
        let port = try FreePort.find()
        let server = try CallProcess(["signal", "127.0.0.1:\(port)"], in: folder)
        defer { server.stop() }
        try await server.said("ws://")
        let source = "pattern:timecode?size=320x240&fps=30"
        for (number, each) in Self.cases.enumerated() {
            let room = ["--signal", "ws://127.0.0.1:\(port)/room-\(number)", "--report", "json"]
            let answer = try CallProcess(["answer", source, "--as", "ben"] + room + each.answer, in: folder)
            defer { answer.stop() }
            try await answer.said("In the room")
            let call = try CallProcess(["call", "ben", source, "--as", "anna"] + room + each.call, in: folder)
            defer { call.stop() }
            if each.cancels {
                try await call.said("ringing")
                call.interrupt()
            }
            let (caller, called) = (try await call.end(), try await answer.end())
            #expect(caller.story.call == called.story.call, "\(each.name)")
            #expect(caller.story.ended == called.story.ended, "\(each.name)")
            let end = caller.story.ended
            #expect(
                (end.by, end.why) == (each.end.by, each.end.why) && end.detail == each.end.detail
                    && end.retryAfter == each.end.retryAfter, "\(each.name): \(end)")
            #expect(caller.status == each.statuses.call, "\(each.name): \(call.text)")
            #expect(called.status == each.statuses.answer, "\(each.name): \(answer.text)")
            #expect(caller.story.outgoing && !called.story.outgoing)
            guard each.end.why == "hungUp" else { continue }
            #expect(caller.story.states == ["calling", "ringing", "connecting", "connected"])
            #expect(called.story.states == ["ringing", "connecting", "connected"])
            // Each process has announced its track to the other.
            #expect(call.text.contains("ben: camera on") && answer.text.contains("anna: camera on"), "\(each.name)")
            for story in [caller.story, called.story] {
                #expect(story.sent > 10 && story.received > 10, "\(each.name): \(story)")
            }
        }
    }

    @Test("With --relay-only pictures go both ways through coturn; with a wrong secret the call fails")
    func relayed() async throws {
        let folder = try TemporaryFolder()
        let relay = try TURNServer()
        defer { relay.stop() }
        let port = try FreePort.find()
        let server = try CallProcess(["signal", "127.0.0.1:\(port)"], in: folder)
        defer { server.stop() }
        try await server.said("ws://")
        let source = "pattern:timecode?size=320x240&fps=30"
        let file = folder.path("secret")
        try Data((relay.secret + "\n").utf8).write(to: URL(fileURLWithPath: file))
        for (number, secret) in [relay.secret, "mistaken"].enumerated() {
            let common = [
                "--signal", "ws://127.0.0.1:\(port)/relayed-\(number)", "--report", "json",
                "--turn", "127.0.0.1:\(relay.port)", "--relay-only",
            ]
            let answer = try CallProcess(
                ["answer", source, "--as", "ben", "--auto", "--turn-secret-file", file] + common, in: folder)
            defer { answer.stop() }
            try await answer.said("In the room")
            let call = try CallProcess(
                ["call", "ben", source, "--as", "anna", "--duration", "5", "--turn-secret-env", "RELAY_SECRET"]
                    + common, in: folder, environment: ["RELAY_SECRET": secret])
            defer { call.stop() }
            let (caller, called) = (try await call.end(), try await answer.end())
            #expect(caller.story.ended == called.story.ended)
            #expect(!call.text.contains(secret), "a secret is not shown")
            if secret == relay.secret {
                #expect(caller.story.ended.why == "hungUp", "\(call.text)")
                #expect(caller.story.received > 5 && called.story.received > 5)
                let users = try relay.users()
                #expect(!users.isEmpty && users.allSatisfy { $0.hasSuffix(":inlet") }, "\(users)")
            } else {
                #expect(caller.story.ended.why == "failed", "\(call.text)")
                // Whichever of the four sessions ended first, the reason is the relay, not a missing peer.
                let relayed = "Only relays may be used"
                #expect(caller.story.ended.detail?.contains(relayed) == true, "\(caller.story.ended)")
                #expect(!(caller.story.states + called.story.states).contains("connected"), "no other path is used")
                #expect(caller.status == 74 && called.status == 74)
            }
        }
    }

    @Test(
        "Through the room's relay, a process and Chromium see each other with relay-only",
        .enabled(if: CameraBrowser.missing == nil, "\(CameraBrowser.missing ?? "")"))
    func relayOfTheRoom() async throws {
        let folder = try TemporaryFolder()
        let relay = try TURNServer()
        defer { relay.stop() }
        let port = try FreePort.find()
        let file = folder.path("secret")
        try Data((relay.secret + "\n").utf8).write(to: URL(fileURLWithPath: file))
        let server = try CallProcess(
            ["signal", "127.0.0.1:\(port)", "--turn", "127.0.0.1:\(relay.port)", "--turn-secret-file", file],
            in: folder)
        defer { server.stop() }
        try await server.said("ws://")
        let browser = try CameraBrowser()
        defer { browser.stop() }
        try browser.open("http://127.0.0.1:\(port)/lobby?id=ben&auto#relay")
        try await Waiting.until("the page in the room", progress: { 0 }) {
            try browser.evaluate("return document.getElementById('state').textContent").text == "ready"
        }
        let call = try CallProcess(
            [
                "call", "ben", "pattern:timecode?size=320x240&fps=30", "--as", "anna", "--duration", "5",
                "--relay-only", "--signal", "ws://127.0.0.1:\(port)/lobby", "--report", "json",
            ], in: folder)
        defer { call.stop() }
        let end = try await call.end()
        #expect(end.status == 0 && end.story.ended.why == "hungUp", "\(call.text)")
        #expect(end.story.received > 5)
        // Each has separate credentials, and both have used them.
        let users = try Set(relay.users().map { $0.split(separator: ":").last ?? "" })
        #expect(users == ["anna", "ben"], "\(users)")
    }

    @Test("An unknown name, a missing room and a name in use have clear errors")
    func mistakes() async throws {
        let folder = try TemporaryFolder()
        let port = try FreePort.find()
        let server = try CallProcess(["signal", "127.0.0.1:\(port)"], in: folder)
        defer { server.stop() }
        try await server.said("ws://")
        let room = ["--signal", "ws://127.0.0.1:\(port)/lobby", "--report", "json"]
        let nobody = try CallProcess(["call", "ben", "pattern:", "--as", "anna", "--ring", "1"] + room, in: folder)
        let end = try await nobody.end()
        #expect(end.status == 68)
        #expect((end.story.ended.by, end.story.ended.why) == ("ben", "timedOut"))
        #expect(end.story.ended.detail == "reaching")
        for (arguments, status) in [
            (["call", "b en", "pattern:", "--as", "anna"] + room, Int32(64)),
            (["call", "ben", "none:", "--as", "anna"] + room, 64),
            (["answer", "pattern:", "--as", "anna", "--auto", "--busy"] + room, 64),
            (["call", "ben", "pattern:", "--as", "anna", "--signal", "http://127.0.0.1/x"], 64),
            (["call", "ben", "pattern:", "--as", "anna", "--turn", "127.0.0.1"] + room, 64),
            (["call", "ben", "pattern:", "--as", "anna", "--turn-secret", "x"] + room, 64),
            (["answer", "pattern:", "--as", "anna", "--turn", "127.0.0.1", "--turn-secret-file", "/"] + room, 64),
        ] {
            let process = try InletProcess.run(arguments)
            #expect(process.status == status, "\(arguments): \(process.complaints)")
            #expect(!process.complaints.isEmpty)
        }
    }
}
#endif

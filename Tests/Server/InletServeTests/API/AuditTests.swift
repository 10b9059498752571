import Foundation
import ReferenceTools
import Testing

/// The audit log of the daemon; curl requests the changes.
@Suite(.tags(.daemon), .serialized, .fewDaemons, .takes(atMostMinutes: 1)) struct AuditTests {
    private struct Line: Decodable, Equatable {
        var who: String
        var client: String?
        var by: String
        var action: String
        var camera: String?
        var outcome: String
        var code: Int?
    }

    @Test("Each change by API, file and signal is a line with time, client and result; none has a secret")
    func lines() async throws {
        let cameras = "cameras:\n  door: pattern:ball?size=64x64&fps=5\n"
        let serve = try await ServeProcess("  audit: audit.jsonl\n" + cameras)
        let source = #"{"name": "yard", "source": "pattern:ball?size=64x64&fps=5"}"#
        let wrong = #"{"source": "patern://me:pa55word@127.0.0.1/x"}"#
        _ = try await serve.ask("GET", "/v1/cameras")
        let cases: [(Int, String, String, String, String?, Line)] = [
            (204, "POST", "/v1/cameras/door/pause", ServeProcess.admin, nil, api("boss", "pause", "door")),
            (403, "DELETE", "/v1/cameras/door", ServeProcess.viewer, nil, api("wall", "remove", "door", 403)),
            (201, "POST", "/v1/cameras", ServeProcess.admin, source, api("boss", "add", "yard")),
            (422, "PUT", "/v1/cameras/door", ServeProcess.admin, wrong, api("boss", "change", "door", 422)),
            (400, "PUT", "/v1/cameras/door", ServeProcess.admin, "{", api("boss", "change", "door", 400)),
            (
                200, "DELETE", "/v1/cameras/yard?dry-run=true", ServeProcess.admin, nil,
                api("boss", "remove", "yard", outcome: "dry run")
            ),
            (
                200, "POST", "/v1/cameras/door/resume?dry-run=true", ServeProcess.admin, nil,
                api("boss", "resume", "door", outcome: "dry run")
            ),
            (204, "POST", "/v1/cameras/door/resume", ServeProcess.admin, nil, api("boss", "resume", "door")),
            (
                200, "POST", "/v1/cameras/door/pause?dry-run=true", ServeProcess.admin, nil,
                api("boss", "pause", "door", outcome: "dry run")
            ),
            (
                200, "POST", "/v1/cameras/door/restart?dry-run=true", ServeProcess.admin, nil,
                api("boss", "restart", "door", outcome: "dry run")
            ),
            (
                200, "POST", "/v1/reload?dry-run=true", ServeProcess.admin, nil,
                api("boss", "reload", nil, outcome: "dry run")
            ),
            (
                200, "PUT", "/v1/log-level?dry-run=true", ServeProcess.admin, #"{"level": "debug"}"#,
                api("boss", "log-level", nil, outcome: "dry run")
            ),
            (200, "PUT", "/v1/log-level", ServeProcess.admin, #"{"level": "notice"}"#, api("boss", "log-level", nil)),
        ]
        for (status, method, path, token, body, _) in cases {
            let answer = try await serve.ask(method, path, token: token, body: body)
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(answer.status == status, "\(method) \(path)")
            if path.contains("dry-run=true") { #expect(text.contains(#""dryRun":true"#), "\(method) \(path): \(text)") }
        }
        // A trial changes nothing: no second opening, no pause, no other level.
        let door = try await serve.camera("door") { $0.state == "live" }
        #expect(door.openings == 1)
        let level = try await serve.ask("GET", "/v1/log-level")
        #expect(String(decoding: level.body, as: UTF8.self).contains(#""notice""#))
        kill(serve.process.processIdentifier, SIGHUP)
        _ = try await serve.camera("door") { _ in serve.complaints.contains(#""by":"signal""#) }
        try serve.write("cameras: [\n")
        _ = try await serve.camera("door") { _ in serve.complaints.contains(#""by":"file""#) }
        #expect(await serve.end() == 0)
        let path = serve.folder.path("audit.jsonl")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let records = text.split(separator: "\n").map { Data($0.utf8) }
        let expected =
            cases.map(\.5) + [
                Line(who: "signal", by: "signal", action: "reload", outcome: "done"),
                Line(who: "file", by: "file", action: "reload", outcome: "refused", code: 422),
            ]
        #expect(try records.map { try JSONDecoder().decode(Line.self, from: $0) } == expected)
        // Python reads the times as RFC 3339, in UTC and in order.
        let script = """
            import datetime, json, sys
            times = [datetime.datetime.fromisoformat(json.loads(line)["time"]) for line in open(sys.argv[1])]
            print(all(t.utcoffset() == datetime.timedelta(0) for t in times) and times == sorted(times))
            """
        let times = try await ReferenceCommand.runAside("/usr/bin/python3", ["-c", script, path])
        #expect(String(decoding: times, as: UTF8.self) == "True\n")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        for secret in [ServeProcess.admin, ServeProcess.viewer, "pa55word"] { #expect(!text.contains(secret)) }
    }

    @Test("A full disk is reported once and prevents no change")
    func fullDisk() async throws {
        let serve = try await ServeProcess(
            "  audit: /dev/full\ncameras:\n  door: pattern:ball?size=64x64&fps=5\n", tokens: false)
        for action in ["pause", "resume", "pause"] {
            #expect(try await serve.ask("POST", "/v1/cameras/door/\(action)", token: nil).status == 204)
        }
        #expect(await serve.end() == 0)
        #expect(serve.complaints.components(separatedBy: "audit log '/dev/full': No space left").count == 2)
        #expect(serve.complaints.components(separatedBy: #""who":"anonymous""#).count == 4)
    }

    private func api(
        _ who: String, _ action: String, _ camera: String?, _ code: Int? = nil, outcome: String = "done"
    ) -> Line {
        Line(
            who: who, client: "127.0.0.1", by: "api", action: action, camera: camera,
            outcome: code == nil ? outcome : "refused", code: code)
    }
}

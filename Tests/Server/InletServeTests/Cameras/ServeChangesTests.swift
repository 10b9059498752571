import Foundation
import ReferenceTools
import Testing

/// Changes by the API and their undoing, requested with curl.
@Suite(.tags(.daemon), .serialized, .fewDaemons, .takes(atMostMinutes: 3)) struct ServeChangesTests {
    private static let cameras = """
        cameras:
          door: pattern:ball?size=64x64&fps=10
          yard: pattern:ball?size=64x64&fps=10

        """
    private static let other = #"{"source": "pattern:noise?size=64x64&fps=10"}"#

    private static func names(_ serve: ServeProcess) async throws -> [String] {
        struct List: Decodable {
            struct Camera: Decodable { var name: String }
            var cameras: [Camera]
        }
        let body = try await serve.ask("GET", "/v1/cameras").body
        return try JSONDecoder().decode(List.self, from: body).cameras.map(\.name)
    }

    @Test("Changes, removals and additions by the API are undone camera by camera, and stay so after a restart")
    func revert() async throws {
        let serve = try await ServeProcess(Self.cameras)
        let changes = "/v1/cameras/door/changes"
        #expect(try await serve.ask("DELETE", changes).status == 404)
        #expect(try await serve.ask("PUT", "/v1/cameras/door", body: Self.other).status == 200)
        #expect(try await serve.ask("PUT", "/v1/cameras/added", body: Self.other).status == 201)
        #expect(try await serve.ask("DELETE", "/v1/cameras/yard").status == 200)
        #expect(try await Self.names(serve) == ["added", "door"])

        // Neither for a client with read-only rights, nor in a trial.
        #expect(try await serve.ask("DELETE", changes, token: ServeProcess.viewer).status == 403)
        let tried = try await serve.ask("DELETE", changes + "?dry-run=true")
        #expect(tried.status == 200)
        #expect(
            String(decoding: tried.body, as: UTF8.self)
                == #"{"dryRun":true,"changes":[{"camera":"door","change":"reopened"}]}"# + "\n")
        #expect(try await serve.camera("door") { _ in true }.source.hasPrefix("pattern:noise"))

        for (name, change) in [("door", "reopened"), ("yard", "added"), ("added", "removed")] {
            let answer = try await serve.ask("DELETE", "/v1/cameras/\(name)/changes")
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(answer.status == 200 && text.contains("\"camera\":\"\(name)\",\"change\":\"\(change)\""), "\(text)")
            #expect(try await serve.ask("DELETE", "/v1/cameras/\(name)/changes").status == 404)
        }
        #expect(try await Self.names(serve) == ["door", "yard"])
        #expect(try await serve.camera("door") { $0.captured > 0 }.source.hasPrefix("pattern:ball"))
        #expect(serve.complaints.contains(#""action":"revert","camera":"door","outcome":"done""#))
        #expect(await serve.end() == 0)
        try await serve.launch()
        #expect(try await serve.camera("yard") { $0.captured > 0 }.source.hasPrefix("pattern:ball"))
        #expect(try await serve.camera("door") { $0.captured > 0 }.source.hasPrefix("pattern:ball"))
        #expect(try await Self.names(serve) == ["door", "yard"])
        #expect(await serve.end() == 0)
    }

    @Test("curl, which waits up to a minute for permission to send a body, gets it at once")
    func expectation() async throws {
        let serve = try await ServeProcess(Self.cameras)
        let output = try await serve.run(
            "curl",
            [
                "-s", "-m", "120", "--expect100-timeout", "60", "-H", "expect: 100-continue", "-X", "PUT", "-w",
                "%{http_code}", "-H", "authorization: Bearer \(ServeProcess.admin)", "-H",
                "content-type: application/json", "--data-binary", #"{"level": "notice"}"#,
                "\(serve.address)/v1/log-level",
            ])
        let answer = String(decoding: output, as: UTF8.self)
        #expect(answer.hasSuffix("200") && answer.contains(#""level":"notice""#), "\(answer)")
        #expect(await serve.end() == 0)
    }

    @Test("A camera that was paused stays paused after a restart and after kill -9, and gives no picture until resumed")
    func pausedOverRestart() async throws {
        let serve = try await ServeProcess(Self.cameras)
        _ = try await serve.camera("door") { $0.captured > 0 }
        #expect(try await serve.ask("POST", "/v1/cameras/door/pause").status == 204)
        for signal in [SIGTERM, SIGKILL] {
            _ = await serve.end(signal)
            try await serve.launch()
            _ = try await serve.camera("yard") { $0.captured > 10 }
            let door = try await serve.camera("door") { _ in true }
            #expect(door.state == "paused" && door.captured == 0)
            #expect(try await serve.ask("GET", "/v1/cameras/door/snapshot.jpg").status == 409)
        }
        #expect(try await serve.ask("POST", "/v1/cameras/door/resume").status == 204)
        _ = try await serve.camera("door") { $0.captured > 0 }
        #expect(await serve.end() == 0)
        try await serve.launch()
        _ = try await serve.camera("door") { $0.captured > 0 }
        #expect(await serve.end() == 0)
    }

    @Test("A change is on the disk before it is in force: file, name and copy, each synced")
    func synced() async throws {
        let log = try await SyncLog()
        let serve = try await ServeProcess(Self.cameras, environment: log.environment)
        #expect(try await serve.ask("PUT", "/v1/cameras/added", body: Self.other).status == 201)
        let lines = log.lines
        let home = URL(fileURLWithPath: serve.configuration).deletingLastPathComponent().path
        let names = lines.filter { $0.contains(home) }.map { line -> String in
            let name = line.split(separator: "/").last.map(String.init) ?? ""
            let kind = String(line.prefix { $0 != " " })
            if line.hasSuffix(home) { return "\(kind) folder" }
            return "\(kind) \(name.hasSuffix(".part") ? "part" : name)"
        }
        let copies = ["cameras.yaml.changes.json", "cameras.yaml.changes.json.copy"]
        #expect(names == copies.flatMap { ["fsync part", "rename \($0)", "fsync folder"] }, "\(lines)")
        #expect(await serve.end() == 0)
    }

    @Test("A reload reads the changes again: one with an error changes nothing, and without the file all changes end")
    func reload() async throws {
        let serve = try await ServeProcess(Self.cameras)
        let file = serve.configuration + ".changes.json"
        #expect(try await serve.ask("PUT", "/v1/cameras/door", body: Self.other).status == 200)
        #expect(try await serve.ask("DELETE", "/v1/cameras/yard").status == 200)
        let written = try Data(contentsOf: URL(fileURLWithPath: file))

        for wrong in ["{", "[]", #"{"cameras": {"door": "patern:"}}"#] {
            try Data(wrong.utf8).write(to: URL(fileURLWithPath: file))
            let answer = try await serve.ask("POST", "/v1/reload")
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(answer.status == 422 && text.contains("\"problems\":[{"), "\(wrong): \(text)")
            #expect(try await Self.names(serve) == ["door"])
        }
        #expect(try await serve.camera("door") { $0.captured > 0 }.source.hasPrefix("pattern:noise"))
        try written.write(to: URL(fileURLWithPath: file))
        #expect(try await serve.ask("POST", "/v1/reload").status == 200)
        #expect(try await serve.camera("door") { _ in true }.openings == 1)

        try FileManager.default.removeItem(atPath: file)
        kill(serve.process.processIdentifier, SIGHUP)
        _ = try await serve.camera("yard") { $0.captured > 0 }
        #expect(try await serve.camera("door") { $0.captured > 0 }.source.hasPrefix("pattern:ball"))
        // The next change restores nothing from before.
        #expect(try await serve.ask("PUT", "/v1/cameras/added", body: Self.other).status == 201)
        #expect(try await Self.names(serve) == ["added", "door", "yard"])
        #expect(!(try String(contentsOfFile: file, encoding: .utf8)).contains("yard"))
        #expect(await serve.end() == 0)
    }
}

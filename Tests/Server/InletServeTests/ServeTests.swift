import Foundation
import ReferenceTools
import Testing

/// The daemon as its users see it, tested with curl, ffmpeg and Chromium.
@Suite(.tags(.daemon), .serialized, .fewDaemons, .takes(atMostMinutes: 3)) struct ServeTests {
    private static let pattern = "pattern:timecode?size=320x180&fps=20"

    @Test("Two lines are enough for a picture and a stream that ffmpeg shows")
    func pictures() async throws {
        let serve = try await ServeProcess("cameras:\n  door: \(Self.pattern)\n", tokens: false)
        let (status, picture) = try await serve.ask("GET", "/v1/cameras/door/snapshot.jpg", token: nil)
        #expect(status == 200)
        let file = serve.folder.path("door.jpg")
        try picture.write(to: URL(fileURLWithPath: file))
        let facts = try await ReferenceCommand.runAside(
            "ffprobe", ["-v", "error", "-show_entries", "stream=codec_name,width,height", "-of", "csv=p=0", file])
        #expect(String(decoding: facts, as: UTF8.self) == "mjpeg,320,180\n")
        let sums = try await ReferenceCommand.runAside(
            "ffmpeg",
            [
                "-v", "error", "-f", "mpjpeg", "-i", "\(serve.address)/v1/cameras/door/stream.mjpeg", "-frames:v", "8",
                "-f", "framemd5", "-",
            ])
        let pictures = FrameSums.sums(of: sums)
        #expect(pictures.count == 8)
        #expect(Set(pictures).count == 8)
        #expect(await serve.end() == 0)
    }

    @Test("Each refusal has its status, and none ends the daemon")
    func refusals() async throws {
        let serve = try await ServeProcess("  streams: 1\ncameras:\n  door: \(Self.pattern)\n")
        // The server answers before the cameras are started.
        let ready = try await ServeProcess.last {
            try await serve.ask("GET", "/readyz", token: nil)
        } until: {
            $0.status != 503
        }
        #expect(ready.status == 200 && String(decoding: ready.body, as: UTF8.self).contains("of 1 cameras are healthy"))
        let long = "{\"source\": \"\(String(repeating: "a", count: 70_000))\"}"
        let cases: [(Int, String, String, String?, String?, [String])] = [
            (200, "GET", "/v1/cameras", ServeProcess.viewer, nil, []),
            (200, "GET", "/metrics", ServeProcess.viewer, nil, []),
            (401, "GET", "/v1/cameras", nil, nil, []),
            (401, "GET", "/v1/cameras", "wrong-0123456789abcdefghij", nil, []),
            (403, "DELETE", "/v1/cameras/door", ServeProcess.viewer, nil, []),
            (403, "POST", "/v1/cameras/door/restart", ServeProcess.viewer, nil, []),
            (403, "POST", "/v1/cameras/door/restart", ServeProcess.admin, nil, ["sec-fetch-site: cross-site"]),
            (403, "POST", "/v1/reload", ServeProcess.admin, nil, ["origin: http://evil.example"]),
            (404, "GET", "/v1/cameras/none", ServeProcess.admin, nil, []),
            (404, "GET", "/v1/nothing", ServeProcess.admin, nil, []),
            (404, "DELETE", "/v1/cameras/none", ServeProcess.admin, nil, []),
            (405, "PATCH", "/v1/cameras/door", ServeProcess.admin, nil, []),
            (409, "POST", "/v1/cameras", ServeProcess.admin, "{\"name\": \"door\", \"source\": \"pattern:\"}", []),
            (413, "PUT", "/v1/cameras/door", ServeProcess.admin, long, []),
            (413, "POST", "/v1/reload", ServeProcess.admin, "{}", []),
            (
                415, "PUT", "/v1/cameras/door", ServeProcess.admin, nil,
                ["content-type: text/plain", "content-length: 2"]
            ),
            (400, "PUT", "/v1/cameras/door", ServeProcess.admin, "{", []),
            (422, "PUT", "/v1/cameras/door", ServeProcess.admin, "{\"source\": \"patern:\"}", []),
            (422, "PUT", "/v1/cameras/Door", ServeProcess.admin, "\"pattern:\"", []),
            (422, "PUT", "/v1/cameras/door?dry-run=true", ServeProcess.admin, "false", []),
            (400, "DELETE", "/v1/cameras/door?dry-run", ServeProcess.admin, nil, []),
            (400, "DELETE", "/v1/cameras/door?dry-run=yes", ServeProcess.admin, nil, []),
            (200, "DELETE", "/v1/cameras/door?dry-run=true", ServeProcess.admin, nil, []),
            (421, "GET", "/v1/cameras", ServeProcess.admin, nil, ["host: evil.example"]),
        ]
        for (status, method, path, token, body, headers) in cases {
            let answer = try await serve.ask(method, path, token: token, body: body, headers: headers)
            #expect(answer.status == status, "\(method) \(path): \(String(decoding: answer.body, as: UTF8.self))")
        }
        // The maximum number of streams.
        let script = """
            exec 3< <(curl -sN -H 'authorization: Bearer \(ServeProcess.viewer)' \(serve.address)/v1/cameras/door/stream.mjpeg)
            head -c 1000 <&3 > /dev/null
            curl -s -o /dev/null -w '%{http_code}' -H 'authorization: Bearer \(ServeProcess.viewer)' \(serve.address)/v1/events
            """
        let status = try await ReferenceCommand.runAside("bash", ["-c", script])
        #expect(String(decoding: status, as: UTF8.self) == "429")
        #expect(try await serve.camera("door") { $0.state == "live" }.openings == 1)
        #expect(await serve.end() == 0)
    }

    @Test("No response lets a page of another site read it")
    func otherSites() async throws {
        let serve = try await ServeProcess("cameras:\n  door: \(Self.pattern)\n")
        _ = try await serve.camera("door") { $0.captured > 0 }
        let paths = [
            "/", "/healthz", "/readyz", "/metrics", "/v1/openapi.json", "/v1/cameras", "/v1/cameras/door",
            "/v1/cameras/none", "/v1/cameras/door/snapshot.jpg", "/v1/cameras/door/stream.mjpeg",
            "/v1/cameras/door/stream.mp4", "/v1/cameras/door/stream.m3u8", "/v1/cameras/door/whep", "/v1/events",
            "/v1/reload", "/v1/nothing",
        ]
        let script = """
            ask() {
                curl -s -m 3 -o /dev/null -D - -X "$1" -H 'origin: http://evil.example' \\
                    -H 'access-control-request-method: GET' -H "authorization: Bearer $2" "$3" || true
            }
            for method in GET POST OPTIONS; do for url in "${@:2}"; do ask $method "$1" "$url"; done; done
            ask GET wrong-0123456789abcdefghij "$2"
            """
        let output = try await ReferenceCommand.runAside(
            "bash", ["-c", script, "curl", ServeProcess.admin] + paths.map { serve.address + $0 })
        let text = String(decoding: output, as: UTF8.self).lowercased()
        #expect(text.components(separatedBy: "http/1.1 ").count == 3 * paths.count + 2, "\(text)")
        #expect(!text.contains("access-control-"), "\(text)")
        #expect(await serve.end() == 0)
    }

    @Test("Without a token in the configuration no client changes it over the API, and pages of other sites do nothing")
    func withoutToken() async throws {
        let serve = try await ServeProcess("cameras:\n  door: \(Self.pattern)\n", tokens: false)
        let added = try await serve.ask(
            "PUT", "/v1/cameras/other", token: nil, body: "{\"source\": \"pattern:\", \"sinks\": [\"exec:sh\"]}")
        #expect(added.status == 403)
        let recording = "/v1/cameras/door/recordings/20260501T083000.250Z.mp4"
        #expect(try await serve.ask("DELETE", recording, token: nil).status == 403)
        #expect(try await serve.ask("POST", "/v1/cameras/door/pause", token: nil).status == 204)
        #expect(try await serve.ask("GET", "/v1/cameras/door/snapshot.jpg", token: nil).status == 409)
        #expect(try await serve.ask("POST", "/v1/cameras/door/resume", token: nil).status == 204)
        #expect(await serve.end(SIGINT) == 0)
    }

    @Test("A changed file and SIGHUP reload what differs, a wrong file nothing; recordings are finished at the end")
    func reload() async throws {
        let folder = try TemporaryFolder()
        func text(_ other: String) -> String {
            """
            server:
              tokens: {boss: {scope: admin, env: INLET_ADMIN}}
            cameras:
              steady:
                source: \(Self.pattern)
                sinks:
                  - uri: mp4:\(folder.path("steady.mp4"))
                    queue: buffered:500
                  - uri: framemd5:\(folder.path("steady.md5"))
                    queue: buffered:500
              other: \(other)

            """
        }
        let serve = try await ServeProcess("cameras:\n  first: \(Self.pattern)\n")
        func write(_ other: String) throws {
            try serve.write(text(other).replacing("server:\n", with: "server:\n  listen: 127.0.0.1:\(serve.port)\n"))
        }
        try write("pattern:ball?size=64x64&fps=20")
        _ = try await serve.camera("steady") { $0.captured > 5 }
        #expect(try await serve.ask("GET", "/v1/cameras/first").status == 404)
        // A wrong file.
        try serve.write("cameras:\n  other: [\n")
        let answer = try await serve.ask("POST", "/v1/reload")
        #expect(answer.status == 422)
        #expect(String(decoding: answer.body, as: UTF8.self).contains("\"line\":"))
        #expect(try await serve.camera("other") { _ in true }.source.hasPrefix("pattern:ball"))
        // A good one, which is noticed by the signal as well as without it.
        try write("pattern:noise?size=64x64&fps=20")
        kill(serve.process.processIdentifier, SIGHUP)
        _ = try await serve.camera("other") { $0.source.hasPrefix("pattern:noise") && $0.captured > 5 }
        #expect(try await serve.camera("steady") { $0.captured > 40 }.openings == 1)
        #expect(await serve.end() == 0)
        // The recording is complete, and another sink of the camera has every frame, from first to last.
        let counted = try await ReferenceCommand.runAside(
            "ffprobe",
            [
                "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of", "csv=p=0",
                folder.path("steady.mp4"),
            ])
        #expect(
            (Int(String(decoding: counted, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0) > 30)
        #expect(!serve.complaints.contains(ServeProcess.admin))
    }

    @Test("The service manager is notified that the daemon is ready, alive, and about to end")
    func notification() async throws {
        let folder = try TemporaryFolder()
        let script = """
            import socket, sys
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            s.bind(sys.argv[1]); s.settimeout(60)
            open(sys.argv[1] + ".ready", "w").close()
            seen = []
            while "STOPPING=1" not in seen: seen.append(s.recv(4096).decode())
            print("\\n".join(seen))
            """
        let path = folder.path("notify")
        async let heard = ReferenceCommand.runAside("/usr/bin/python3", ["-c", script, path])
        try await ReferenceCommand.runAside(
            "bash", ["-c", "for i in {1..200}; do [ -e \(path).ready ] && exit 0; sleep 0.05; done; exit 1"])
        let serve = try await ServeProcess(
            "cameras:\n  door: \(Self.pattern)\n", environment: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000"])
        _ = try await serve.camera("door") { $0.captured > 20 }
        #expect(await serve.end() == 0)
        let lines = String(decoding: try await heard, as: UTF8.self).split(separator: "\n")
        #expect(lines.first == "READY=1")
        #expect(lines.contains("WATCHDOG=1"))
        #expect(lines.last == "STOPPING=1")
    }

    @Test("SIGHUP at the moment in which the daemon reports readiness reloads, and does not end it")
    func earlyHangUp() async throws {
        let folder = try TemporaryFolder()
        // SCM_CREDENTIALS names the sender: unix(7).
        let script = """
            import os, signal, socket, struct, sys
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            s.bind(sys.argv[1]); s.settimeout(60)
            open(sys.argv[1] + ".ready", "w").close()
            for start in range(int(sys.argv[2])):
                text = b""
                while text != b"READY=1": text, credentials, _, _ = s.recvmsg(4096, 64)
                os.kill(struct.unpack("i", credentials[0][2][:4])[0], signal.SIGHUP)
            """
        let path = folder.path("notify")
        let starts = 8
        async let signaler = ReferenceCommand.runAside("/usr/bin/python3", ["-c", script, path, "\(starts)"])
        try await ReferenceCommand.runAside(
            "bash", ["-c", "for i in {1..200}; do [ -e \(path).ready ] && exit 0; sleep 0.05; done; exit 1"])
        let serve = try await ServeProcess(
            "cameras:\n  door: \(Self.pattern)\n", environment: ["NOTIFY_SOCKET": path])
        for start in 1...starts {
            if start > 1 { try await serve.launch() }
            // A later start overwrites the log of the first.
            _ = try await serve.camera("door") { _ in serve.complaints.contains(#""by":"signal""#) }
            #expect(await serve.end() == 0, "start \(start)")
        }
        _ = try await signaler
    }
}

import Foundation
import ReferenceTools
import Testing

/// The cameras that a client of the daemon may see, and its rate limit, tested with curl and Python.
@Suite(.tags(.daemon), .serialized, .fewDaemons, .takes(atMostMinutes: 2)) struct ClientLimitTests {
    private static let pattern = "pattern:timecode?size=64x64&fps=10"
    private static let guest = "guest-0123456789abcdefghij"
    private static let half = "half-0123456789abcdefghijk"

    @Test("A token for some cameras neither sees nor changes others, which appear not to exist")
    func cameras() async throws {
        let serve = try await ServeProcess(
            """
              tokens:
                boss: {scope: admin, env: INLET_ADMIN}
                guest: {scope: control, env: INLET_GUEST, cameras: [do*]}
                half: {scope: admin, env: INLET_HALF, cameras: [door, door2]}
            budget: {memory: 1M}
            cameras:
              door: \(Self.pattern)
              yard: \(Self.pattern)

            """, tokens: false, environment: ["INLET_GUEST": Self.guest, "INLET_HALF": Self.half])
        _ = try await serve.camera("yard") { $0.captured > 0 }
        let camera = "{\"source\": \"\(Self.pattern)\"}"
        func new(_ name: String) -> String { "{\"name\": \"\(name)\", \"source\": \"\(Self.pattern)\"}" }
        let cases: [(Int, String, String, String, String?)] = [
            (200, "GET", "/v1/cameras/door", Self.guest, nil), (404, "GET", "/v1/cameras/yard", Self.guest, nil),
            (200, "GET", "/v1/cameras/door/snapshot.jpg", Self.guest, nil),
            (404, "GET", "/v1/cameras/yard/snapshot.jpg", Self.guest, nil),
            (404, "GET", "/v1/cameras/yard/stream.mjpeg", Self.guest, nil),
            (404, "GET", "/v1/cameras/yard/statistics", Self.guest, nil),
            (404, "POST", "/v1/cameras/yard/pause", Self.guest, nil),
            (204, "POST", "/v1/cameras/door/pause", Self.guest, nil),
            (204, "POST", "/v1/cameras/door/resume", Self.guest, nil),
            (403, "DELETE", "/v1/cameras/yard", Self.guest, nil), (404, "DELETE", "/v1/cameras/yard", Self.half, nil),
            (404, "PUT", "/v1/cameras/yard", Self.half, camera), (404, "PUT", "/v1/cameras/none", Self.half, camera),
            (403, "POST", "/v1/cameras", Self.half, new("yard")), (403, "POST", "/v1/cameras", Self.half, new("none")),
            (201, "POST", "/v1/cameras", Self.half, new("door2")), (200, "DELETE", "/v1/cameras/door2", Self.half, nil),
            (403, "POST", "/v1/reload?dry-run=true", Self.half, nil),
            (403, "PUT", "/v1/log-level", Self.half, "{\"level\": \"debug\"}"),
            (403, "GET", "/v1/log-level", Self.half, nil), (403, "GET", "/v1/log-level", Self.guest, nil),
            (200, "GET", "/v1/log-level", ServeProcess.admin, nil),
        ]
        for (status, method, path, token, body) in cases {
            let answer = try await serve.ask(method, path, token: token, body: body)
            #expect(answer.status == status, "\(method) \(path): \(String(decoding: answer.body, as: UTF8.self))")
        }
        // The budget of all cameras and their number are reported only to clients that may see all of them.
        for (token, isTold) in [(Self.half, false), (ServeProcess.admin, true)] {
            let (status, answer) = try await serve.ask(
                "PUT", "/v1/cameras/door?dry-run=true", token: token,
                body: "{\"source\": \"\(Self.pattern)\", \"process\": \"own\", \"memory\": \"400M\"}")
            let text = String(decoding: answer, as: UTF8.self)
            #expect(status == 422 && text.contains("The budget is exceeded.") != isTold, "\(text)")
            #expect(text.contains("400000000 bytes together") == isTold, "\(text)")
        }
        for path in ["/v1/cameras", "/metrics"] {
            let (_, seen) = try await serve.ask("GET", path, token: Self.guest)
            let text = String(decoding: seen, as: UTF8.self)
            #expect(text.contains("door") && !text.contains("yard"), "\(path): \(text)")
        }
        // The first event that the guest receives is about the camera that is changed last. Heartbeats do not end the
        // wait, so curl has a time limit. No other program gets the pipe: otherwise curl would not notice the end of
        // the script.
        let script = """
            exec 3< <(exec curl -sNi -m 300 -H 'authorization: Bearer \(Self.guest)' \(serve.address)/v1/events)
            trap "kill $!" EXIT
            while IFS= read -r -t 30 line <&3 && [ "$line" != $'\\r' ]; do :; done
            for camera in yard door; do
                curl -s -m 60 -X POST -H 'authorization: Bearer \(ServeProcess.admin)' \\
                    \(serve.address)/v1/cameras/$camera/pause 3<&-
            done
            while IFS= read -r -t 30 line <&3; do case $line in data:*) echo "$line"; break;; esac; done
            """
        let heard = try await ReferenceCommand.runAside("bash", ["-c", script])
        let text = String(decoding: heard, as: UTF8.self)
        #expect(text.contains("\"camera\":\"door\"") && !text.contains("yard"), "\(text)")
        #expect(await serve.end() == 0)
    }

    @Test("A client that floods requests must wait, by address and by token; other addresses and tokens are served")
    func rates() async throws {
        let serve = try await ServeProcess(
            "  requests: {per-client: 20, per-token: 20}\ncameras:\n  door: \(Self.pattern)\n")
        // Each address of 127.0.0.0/8 is a separate client. The hostile client's requests that are not limited yet are
        // refused without a token, so they do not count against the token's limit.
        let script = """
            import http.client, sys
            port, viewer, admin = int(sys.argv[1]), sys.argv[2], sys.argv[3]
            def ask(address, token=None):
                c = http.client.HTTPConnection("127.0.0.1", port, timeout=30, source_address=(address, 0))
                c.request("GET", "/v1/cameras", headers={"authorization": "Bearer " + token} if token else {})
                answer = c.getresponse(); answer.read(); c.close()
                return answer.status, int(answer.getheader("retry-after") or 0)
            def until_refused(addresses, token=None):
                seen = set()
                for address in addresses:
                    status, wait = ask(address, token)
                    if status == 429: return seen, wait
                    seen.add(status)
            def addresses(second): return (f"127.{second}.{i // 250}.{i % 250 + 1}" for i in range(20000))
            print(*until_refused("127.66.6.6" for i in range(20000)))
            print({ask(a, viewer)[0] for a, _ in zip(addresses(1), range(50))})
            print(*until_refused(addresses(2), viewer))
            print(ask("127.3.3.3", admin))
            """
        let output = try await ReferenceCommand.runAside(
            "/usr/bin/python3", ["-c", script, "\(serve.port)", ServeProcess.viewer, ServeProcess.admin])
        #expect(String(decoding: output, as: UTF8.self) == "{401} 1\n{200}\n{200} 1\n(200, 0)\n")
        #expect(serve.complaints.contains("Too many requests came from 127.66.6.6"))
        #expect(serve.complaints.contains("Too many requests came with the token wall"))
        #expect(await serve.end() == 0)
    }
}

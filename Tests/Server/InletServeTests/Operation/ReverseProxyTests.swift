import Foundation
import ReferenceTools
import Testing

/// The daemon below a path of nginx, with curl, ffmpeg and Chromium.
@Suite(.tags(.chromium, .daemon, .server), .serialized, .fewDaemons, .takes(atMostMinutes: 4))
struct ReverseProxyTests {
    private static let cameras = """
        cameras:
          door: pattern:timecode?size=640x360&fps=20
          gate: pattern:ball?size=640x360&fps=20
          shed: rtsp://127.0.0.1:9/none
          yard: pattern:smpte?size=640x360&fps=20

        """

    private struct Proxy {
        let process: PeerProcess
        let address: String

        init(_ serve: ServeProcess, _ options: [String] = []) throws {
            process = try PeerProcess("nginx-server.py", ["--proxy", serve.address] + options)
            address = "http://127.0.0.1:\(process.ready["port"]?.int ?? 0)/cams"
        }

        func head(_ path: String, _ options: [String] = []) async throws -> String {
            let output = try await ReferenceCommand.runAside(
                "curl", ["-s", "-m", "20", "-o", "/dev/null", "-D", "-"] + options + [address + path])
            return String(decoding: output, as: UTF8.self).lowercased()
        }
    }

    @Test(
        "In Chromium, everything on the page works below a path, whether or not the proxy states it",
        arguments: [
            [], ["--states-path"],
        ])
    func page(_ options: [String]) async throws {
        struct Seen: Decodable {
            var tiles, live, pictures, events: Int
            var summary, way, history, paused, resumed: String
        }
        let folder = try TemporaryFolder()
        let serve = try await ServeProcess(Self.cameras)
        let proxy = try Proxy(serve, options)
        let output = try await ReferenceCommand.runAside(
            "/usr/bin/python3",
            [
                "-B", PeerProcess.path("cameras-browser.py"), "\(proxy.address)/?token=\(ServeProcess.admin)", "door",
                folder.path("shot.png"),
            ])
        let seen = try JSONDecoder().decode(Seen.self, from: output)
        #expect((seen.tiles, seen.live) == (4, 3) && seen.pictures >= 3)
        #if GStreamer
        #expect(seen.way == "Shown by WebRTC.")
        #endif
        #expect(seen.history.contains("frames a second on average") && seen.events > 0)
        #expect((seen.paused, seen.resumed) == ("paused", "live"))
        #expect(await serve.end() == 0)
    }

    @Test("The daemon's addresses and cookies are below the stated path, and streams are not buffered")
    func addresses() async throws {
        let serve = try await ServeProcess(Self.cameras)
        let proxy = try Proxy(serve, ["--states-path"])
        let login = try await proxy.head("/?token=\(ServeProcess.admin)")
        #expect(login.contains(" 200 ") && login.contains("path=/cams/;"), "\(login)")
        let admin = ["-H", "authorization: Bearer \(ServeProcess.admin)"]
        let added = try await proxy.head(
            "/v1/cameras",
            admin + [
                "-H", "content-type: application/json", "-d", "{\"name\": \"roof\", \"source\": \"pattern:ball\"}",
            ])
        #expect(added.contains(" 201 ") && added.contains("location: /cams/v1/cameras/roof\r"), "\(added)")
        let document = try await ReferenceCommand.runAside(
            "curl", ["-s"] + admin + [proxy.address + "/v1/openapi.json"])
        struct Document: Decodable {
            struct Server: Decodable { var url: String }
            var servers: [Server]
        }
        #expect(try JSONDecoder().decode(Document.self, from: document).servers.map(\.url) == ["/cams"])
        // nginx would hold back data shorter than its buffer: the first event would not arrive.
        let events = try await ReferenceCommand.runAside(
            "bash",
            [
                "-c", "curl -sN -m 20 -H \"$1\" \"$2/v1/events\" | head -n 1", "events", admin[1], proxy.address,
            ])
        #expect(String(decoding: events, as: UTF8.self).hasPrefix("id: "))
        #expect(await serve.end() == 0)
    }

    @Test("A client's address is the one that a trusted proxy states, and statements of others are ignored")
    func clients() async throws {
        func actors(_ settings: String) async throws -> [String] {
            let serve = try await ServeProcess(settings + Self.cameras)
            let proxy = try Proxy(serve)
            let admin = ["-X", "POST", "-H", "authorization: Bearer \(ServeProcess.admin)"]
            // nginx appends its own client, 127.0.0.1, which is trusted as well.
            _ = try await proxy.head("/v1/cameras/gate/pause", admin + ["-H", "x-forwarded-for: 10.9.9.9, 192.0.2.7"])
            _ = try await proxy.head("/v1/cameras/gate/resume", admin)
            #expect(await serve.end() == 0)
            return serve.complaints.split(separator: "\n").filter { $0.contains("\"action\":\"") }.compactMap { line in
                line.firstRange(of: "\"client\":\"").map { String(line[$0.upperBound...].prefix { $0 != "\"" }) }
            }
        }
        #expect(try await actors("  trusted-proxies: [127.0.0.0/8]\n") == ["192.0.2.7", "127.0.0.1"])
        #expect(try await actors("") == ["127.0.0.1", "127.0.0.1"])
    }

    @Test("A proxy may pass on its own host if it is trusted; without tokens nobody is served through a proxy")
    func hosts() async throws {
        for (settings, status) in [("  trusted-proxies: [127.0.0.1]\n", "200"), ("", "421")] {
            let serve = try await ServeProcess(settings + Self.cameras)
            let proxy = try Proxy(serve, ["--passes-host"])
            let head = try await proxy.head(
                "/v1/cameras",
                ["-H", "host: cams.example", "-H", "authorization: Bearer \(ServeProcess.viewer)"])
            #expect(head.contains(" \(status) "), "\(settings): \(head)")
            #expect(await serve.end() == 0)
        }
        let open = try await ServeProcess(Self.cameras, tokens: false)
        #expect(try await open.ask("GET", "/v1/cameras", token: nil).status == 200)
        let proxy = try Proxy(open)
        #expect(try await proxy.head("/v1/cameras").contains(" 421 "))
        #expect(await open.end() == 0)
    }

    @Test("Behind a proxy that does not remove the path, the daemon does")
    func basePath() async throws {
        let serve = try await ServeProcess("  base-path: /cams/\n" + Self.cameras)
        #expect(try await serve.ask("GET", "/cams/v1/cameras").status == 200)
        #expect(try await serve.ask("GET", "/v1/cameras").status == 200)
        #expect(try await serve.ask("GET", "/camsv1/cameras").status == 404)
        let head = try await serve.head(of: "GET", "/cams", headers: [])
        let query = try await serve.head(of: "GET", "/cams?token=x")
        #expect(query.contains("location: /cams/?token=x"), "\(query)")
        #expect(head.first == "http/1.1 308 permanent redirect" && head.contains("location: /cams/"), "\(head)")
        #expect(await serve.end() == 0)
    }
}

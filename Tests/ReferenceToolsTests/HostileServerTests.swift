import Foundation
import ReferenceTools
import Testing

extension PeerTests {
    @Suite(.serialized) struct HostileServerTests {
        @Test(
            "ffprobe fails within its timeout",
            arguments: [
                .blackHole, .close, .longLength, .negativeLength, .vastLength, .random, .unauthorized,
                .unauthorizedBasic, .forbidden, .notFound, .sessionNotFound, .unavailable, .garbageStream,
            ] as [HostileServer.Kind])
        func fails(_ kind: HostileServer.Kind) throws {
            var options = HostileServer.Options()
            options.kind = kind
            options.bytes = 100_000
            let server = try HostileServer(options)
            let client = try Client.run("ffprobe", ["-v", "error", "-timeout", "1000000", server.url("rtsp")])
            #expect(client.status != 0 && client.status != 124, "\(client.text)")
            #expect(try server.report()["connections"]?.int ?? 0 > 0)
        }

        @Test(
            "An endless response continues until the client gives up",
            arguments: [.endlessHeader, .endlessLine, .redirectEndless, .slowLoris] as [HostileServer.Kind])
        func endless(_ kind: HostileServer.Kind) throws {
            var options = HostileServer.Options()
            options.kind = kind
            options.interval = 0.001
            let server = try HostileServer(options)
            let client = try Client.run(
                "curl", ["-s", "-L", "--max-redirs", "5", "--max-time", "1", server.url("http")])
            // 27 and 56: curl refuses the length of the header. 28: timeout. 47: too many redirects.
            #expect([27, 28, 47, 56].contains(client.status), "\(client.status) \(client.text)")
            let report = try server.report()
            #expect(report["bytes"]?.int ?? 0 > 50)
        }

        @Test("The huge body has the requested size")
        func hugeBody() throws {
            var options = HostileServer.Options()
            options.kind = .hugeBody
            options.bytes = 5_000_000
            let server = try HostileServer(options)
            let client = try Client.run(
                "curl", ["-s", "-o", "/dev/null", "-w", "%{size_download}", server.url("http")])
            #expect(client.text == "5000000")
        }

        @Test("Playlists and redirects lead to forbidden targets")
        func playlists() throws {
            var options = HostileServer.Options()
            options.kind = .playlistFile
            options.isTLS = true
            let server = try HostileServer(options)
            let authority = try #require(server.authority)
            let read = ["-s", "-L", "--cacert", authority, server.url("https", "/live.m3u8")]
            #expect(try Client.run("curl", read).text.contains("file:///etc/passwd"))
            try server.change(to: .playlistPlain)
            #expect(try Client.run("curl", read).text.contains("http://127.0.0.1"))
            #expect(try server.report()["downgraded"] == 0)
            try server.change(to: .redirectPlain)
            #expect(try Client.run("curl", read).status == 0)
            #expect(try server.report()["downgraded"] == 1)
        }
    }
}

import InletHTTPServer
import NIOHTTP1
import Testing

@testable import InletServe

struct ServeRouteTests {
    @Test(
        "A method and a path select one route",
        arguments: [
            ("GET", "/", ServeRoute.page), ("HEAD", "/", .page), ("GET", "/healthz", .health),
            ("GET", "/v1/cameras", .list), ("POST", "/v1/cameras", .add), ("GET", "/v1/cameras/a", .show("a")),
            ("PUT", "/v1/cameras/a", .set("a")), ("DELETE", "/v1/cameras/a", .remove("a")),
            ("GET", "/v1/cameras/a/snapshot.jpg", .snapshot("a")), ("GET", "/v1/cameras/a/stream.mjpeg", .stream("a")),
            ("POST", "/v1/cameras/a/restart", .restart("a")), ("PUT", "/v1/log-level", .setLogLevel),
            ("DELETE", "/v1/cameras/a/changes", .revert("a")), ("GET", "/v1/cameras/a/stream.mp4", .fragments("a")),
            ("GET", "/v1/cameras/a/stream.m3u8", .playlist("a")),
            ("GET", "/v1/cameras/a/hls/1.m4s", .segment("a", file: "1.m4s")),
            ("POST", "/v1/cameras/a/record", .record("a")), ("DELETE", "/v1/cameras/a/record", .endRecording("a")),
            ("GET", "/v1/cameras/a/recordings", .recordings("a")),
            ("GET", "/v1/cameras/a/recordings/b.mp4", .recording("a", file: "b.mp4")),
            ("DELETE", "/v1/cameras/a/recordings/b.mp4", .deleteRecording("a", file: "b.mp4")),
            ("POST", "/v1/discover", .discover), ("POST", "/v1/try", .tryOut),
            ("GET", "/v1/cameras/a/history", .history("a")), ("POST", "/v1/cameras/a/whep", .watch("a")),
            ("OPTIONS", "/v1/cameras/a/whep", .session("a")), ("PATCH", "/v1/cameras/a/whep/1", .session("a")),
            ("DELETE", "/v1/cameras/a/whep/1", .session("a")), ("OPTIONS", "/v1/cameras/a/whep/1", .session("a")),
        ])
    func found(_ method: String, _ path: String, _ route: ServeRoute) {
        #expect((try? ServeRoute.find(HTTPMethod(rawValue: method), path)) == route)
    }

    @Test(
        "An unknown path and an unsupported method have their own statuses",
        arguments: [
            ("GET", "/v1", ServeRoute.Failure.unknown), ("GET", "/v1/cameras/", .unknown),
            ("GET", "/v1/cameras//restart", .unknown), ("GET", "/v1/cameras/a/b", .unknown),
            ("GET", "/v1/cameras/a/restart/", .unknown), ("GET", "//v1/cameras", .unknown), ("GET", "*", .unknown),
            ("POST", "/", .method(["GET"])), ("PATCH", "/v1/cameras", .method(["GET", "POST"])),
            ("GET", "/v1/cameras/a/restart", .method(["POST"])), ("GET", "/v1/cameras/a/recordings/", .unknown),
            ("GET", "/v1/cameras/a/recordings/b/c", .unknown), ("GET", "/v1/cameras/a/hls", .unknown),
            ("PUT", "/v1/cameras/a/hls/1.m4s", .method(["GET"])),
            ("GET", "/v1/cameras/a/snapshot.jpg/b", .unknown),
            ("GET", "/v1/cameras/a/whep", .method(["POST", "OPTIONS"])), ("PATCH", "/v1/cameras/a/whep/", .unknown),
            ("POST", "/v1/cameras/a/whep/1", .method(["PATCH", "DELETE", "OPTIONS"])),
        ])
    func notFound(_ method: String, _ path: String, _ failure: ServeRoute.Failure) {
        #expect(throws: failure) { try ServeRoute.find(HTTPMethod(rawValue: method), path) }
    }

    @Test("Requests that change cameras need higher rights than those that show them, and only the health needs none")
    func scopes() {
        #expect([ServeRoute.health, .readiness].allSatisfy { $0.scope == nil })
        #expect(
            [ServeRoute.page, .list, .metrics, .stream("a"), .events, .playlist("a"), .segment("a", file: "b")]
                .allSatisfy { $0.scope == .view && !$0.isChange })
        // A session changes nothing, but costs something: a page of another site opens none.
        #expect(
            [ServeRoute.watch("a"), .session("a")].allSatisfy {
                $0.scope == .view && !$0.isChange && $0.isForOwnPages && $0.camera == "a"
            })
        #expect(!ServeRoute.stream("a").isForOwnPages && ServeRoute.pause("a").isForOwnPages)
        #expect(ServeRoute.playlist("a").camera == "a" && ServeRoute.segment("b", file: "c").camera == "b")
        #expect(
            [ServeRoute.pause("a"), .record("a"), .endRecording("a")].allSatisfy {
                $0.scope == .control && $0.isChange
            })
        #expect(
            [
                ServeRoute.add, .set("a"), .remove("a"), .revert("a"), .reload, .setLogLevel, .discover, .tryOut,
                .deleteRecording("a", file: "b"),
            ].allSatisfy { $0.scope == .admin && $0.isChange })
        #expect(ServeRoute.revert("a").camera == "a" && ServeRoute.revert("a").change?.action == "revert")
        #expect(AccessScope.view < .control && AccessScope.control < .admin)
    }

    @Test(
        "A browser that sends requests for another site's page is recognised",
        arguments: [
            ([:], false), (["sec-fetch-site": "cross-site"], true), (["sec-fetch-site": "same-site"], true),
            (["sec-fetch-site": "same-origin", "origin": "http://evil"], false), (["sec-fetch-site": "none"], false),
            (["origin": "http://localhost:8080"], false), (["origin": "http://localhost:8081"], true),
            (["origin": "null"], true), (["origin": "http://localhost:8080.evil.org"], true),
        ] as [([String: String], Bool)])
    func sites(_ headers: [String: String], _ isCrossSite: Bool) throws {
        var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/v1/reload")
        head.headers.add(name: "host", value: "localhost:8080")
        for (name, value) in headers { head.headers.add(name: name, value: value) }
        #expect(try #require(HTTPRequest(head)).isCrossSite == isCrossSite)
    }

    @Test("An event is one record of server-sent events, with any text")
    func event() {
        let event = CameraSetEvent("failed", "one\ntwo\u{2028}</script>", camera: "a")
        let text = EventHub.text(event, id: "7", time: 0)
        #expect(text.utf8.count { $0 == UInt8(ascii: "\n") } == 4)
        #expect(text.hasPrefix("id: 7\nevent: camera\ndata: {\"camera\":\"a\",\"kind\":\"failed\",\"text\":\"one"))
        #expect(!text.utf8.contains(UInt8(ascii: "<")))
    }
}

import Foundation
import ReferenceTools
import Testing

/// The page in a browser.
@Suite(.tags(.chromium, .daemon), .serialized, .timeLimit(.minutes(3))) struct ServePageTests {
    /// The kinds of streams that tiles may have.
    private static let ways: [String] = {
        #if GStreamer
        ["webrtc", "jpegs"]
        #else
        ["jpegs"]
        #endif
    }()

    @Test(
        "In Chromium all cameras have pictures, one is opened, paused and closed by the keyboard, and a phone shows all"
    )
    func page() async throws {
        struct Seen: Decodable {
            var tiles, live, pictures, past, events, drawn: Int
            var summary, way, delay, history, paused, resumed, focus, address: String
            var labels: [String]
            var light, dark: [Double]
            var opened, moves, closed, overflow: Bool
        }
        let folder = try TemporaryFolder()
        let serve = try await ServeProcess(
            """
            cameras:
              door: pattern:timecode?size=640x360&fps=20
              gate: pattern:ball?size=640x360&fps=20
              shed: rtsp://127.0.0.1:9/none
              yard: pattern:smpte?size=640x360&fps=20

            """)
        let output = try await ReferenceCommand.runAside(
            "/usr/bin/python3",
            [
                "-B", PeerProcess.path("cameras-browser.py"), "\(serve.address)/?token=\(ServeProcess.admin)", "door",
                folder.path("shot.png"),
            ])
        let seen = try JSONDecoder().decode(Seen.self, from: output)
        #expect((seen.tiles, seen.live) == (4, 3))
        #expect(seen.pictures >= 3)
        #expect(seen.summary == "3 of 4 healthy")
        #expect(seen.labels.contains("door, live. Opens the camera."))
        #expect(seen.opened && seen.moves && seen.closed)
        #if GStreamer
        #expect(seen.way == "Shown by WebRTC.")
        #else
        #expect(seen.way.hasPrefix("Shown as JPEGs. This build has no WebRTC."))
        #endif
        #expect(seen.delay != "-")
        #expect(seen.drawn == 1 && seen.history.contains("frames a second on average"))
        #expect((seen.paused, seen.resumed) == ("paused", "live"))
        #expect(seen.past > 0 && seen.events > seen.past)
        #expect(seen.focus.hasPrefix("door,"))
        #expect(!seen.overflow)
        // All text is readable in light and dark mode (WCAG 2.2, 1.4.3), and the page follows the browser.
        #expect(seen.light[0] >= 4.5 && seen.dark[0] >= 4.5, "\(seen.light) \(seen.dark)")
        #expect(seen.light[1] > 0.8 && seen.dark[1] < 0.05)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("shot.png"))).starts(with: [0x89, 0x50]))
        #expect(await serve.end() == 0)
    }

    @Test(
        "In Chromium tiles in view are live, up to the maximum, and release their streams when they are not visible",
        arguments: ways)
    func grid(_ way: String) async throws {
        struct Seen: Decodable {
            var inView, live, hidden, back: Int
            var way: [String]
            var streams: Bool
            var asleep: String
            var pictures, above, scrolled, opened: [Int]
            var still: [String]
        }
        let most = way == "webrtc" ? 9 : 3
        let cameras = (1...11).map { "yard-\($0 + 10)" }
        let serve = try await ServeProcess(
            "cameras:\n  attic: {source: \"pattern:ball?size=64x64&fps=5\", on-demand: true}\n"
                + cameras.map { "  \($0): pattern:timecode?size=160x90&fps=12\n" }.joined())
        let output = try await ReferenceCommand.runAside(
            "/usr/bin/python3",
            [
                "-B", PeerProcess.path("cameras-grid.py"), "\(serve.address)/?token=\(ServeProcess.admin)", "\(most)",
                "attic",
            ] + cameras + (way == "webrtc" ? [] : ["--jpegs"]))
        let seen = try JSONDecoder().decode(Seen.self, from: output)
        #expect((seen.inView, seen.live) == (11, most))
        #expect(seen.way == [way] && seen.streams)
        // In two seconds; the others have one a second at most, and two at the ends.
        #expect(seen.pictures[0] >= 10 && seen.pictures[1] <= 4, "\(seen.pictures)")
        #expect(seen.above == [1, 0] && seen.scrolled == [0, 1])
        #expect((seen.hidden, seen.back) == (0, 1))
        #expect(seen.opened == [1, 1] && seen.still == [])
        // The page neither keeps a camera on demand open nor opens it.
        #expect(seen.asleep == "unwatched")
        #expect(try await serve.camera("attic") { _ in true }.openings == 1)
        #expect(await serve.end() == 0)
    }

    @Test("In Chromium a client without a token gets a field for it, a wrong one an error, and no address holds it")
    func login() async throws {
        struct Seen: Decodable {
            var label, type, focus, short, wrong, invalid, address: String
            var tiles: Int
            var requests: [String]
            var again: Bool
        }
        let folder = try TemporaryFolder()
        let serve = try await ServeProcess("cameras:\n  door: pattern:ball?size=64x64&fps=5\n")
        let output = try await ReferenceCommand.runAside(
            "/usr/bin/python3",
            [
                "-B", PeerProcess.path("cameras-login.py"), serve.address, ServeProcess.viewer,
                folder.path("shot.png"),
            ])
        let seen = try JSONDecoder().decode(Seen.self, from: output)
        #expect((seen.label, seen.type, seen.focus) == ("Token", "password", "token"))
        #expect(seen.short.hasPrefix("This is not a token.") && seen.wrong.hasPrefix("The token is wrong."))
        #expect(seen.invalid == "true")
        #expect(seen.tiles == 1 && seen.address == serve.address + "/" && seen.requests == [] && seen.again)
        // Other clients, and other addresses, get the error; the page has the headers of all responses.
        let browser = "accept: text/html,application/xhtml+xml,*/*;q=0.8"
        for (path, headers, isPage) in [
            ("/", [browser], true), ("/", [], false), ("/", ["accept: */*"], false), ("/v1/cameras", [browser], false),
        ] {
            let answer = try await serve.ask("GET", path, token: nil, headers: headers)
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(answer.status == 401 && text.contains("<form") == isPage)
            #expect(isPage || text.hasPrefix("Open this page with ?token="))
        }
        let head = String(
            decoding: try await serve.run("curl", ["-si", "-H", browser, serve.address + "/"]), as: UTF8.self
        ).lowercased()
        #expect(head.hasPrefix("http/1.1 401") && head.contains("www-authenticate: bearer"))
        #expect(head.contains("content-security-policy: default-src 'none'; ") && !head.contains("set-cookie"))
        #expect(await serve.end() == 0)
    }

    @Test(
        "In Chromium a camera is found by a search or typed, seen before it is saved, and added, all by the keyboard",
        .enabled(
            if: NetworkNamespace.isAvailable,
            "network namespaces cannot be made here; that needs root and the tool ip"))
    func adding() async throws {
        struct Seen: Decodable {
            var opened, shown, closed, empty, overflow: Bool
            var first, back, wrongName, error, without, facts, focus, tile: String
            var ring, found, chosen, before, after: [String]
            var unnamed, colours: Int
        }
        let folder = try TemporaryFolder()
        let devices = try PeerProcess("discovery-device.py")
        let serve = try await ServeProcess(
            "cameras:\n  door: pattern:ball?size=64x64&fps=5\n",
            network: try #require(devices.ready["clients"]?.int))
        let output = try await serve.run(
            "/usr/bin/python3",
            [
                "-B", PeerProcess.path("cameras-adding.py"), "\(serve.address)/?token=\(ServeProcess.admin)",
                "rtsp://127.0.0.1:9/none", "pattern:timecode?size=640x360&fps=20", folder.path("shot.png"),
            ])
        let seen = try JSONDecoder().decode(Seen.self, from: output)
        #expect(seen.opened && seen.first == "new-name")
        // All elements in order, to the end and back; saving is not possible yet.
        let ring = ["new-source", "new-user", "new-password", "look", "cancel", "search", "new-name"]
        #expect(seen.ring == ring + ring.prefix(2) && seen.back == "new-source")
        #expect(seen.unnamed == 0)
        // The second camera states two addresses, and each can be chosen.
        #expect(seen.found == ["Front Door", "A camera without a name", "A camera without a name"])
        #expect(seen.chosen == ["front-door", "onvif://10.77.0.1/"])
        #expect(seen.wrongName == "true")
        #expect(seen.error.contains("Nothing listens") && seen.without == "Save without a picture")
        #expect(seen.shown && seen.colours > 4)
        #expect(seen.facts.hasPrefix("640 x 360, 20.0 frames a second"))
        #expect(seen.closed && seen.focus == "add" && seen.before == ["door"] && seen.empty)
        #expect(seen.after == ["door", "new-door"] && seen.tile.hasPrefix("new-door,"))
        #expect(!seen.overflow)
        let added = try await serve.camera("new-door") { $0.state == "live" }
        #expect(added.source.hasPrefix("pattern:timecode"))
        #expect(await serve.end() == 0)
    }
}

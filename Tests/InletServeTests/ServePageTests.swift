import Foundation
import ReferenceTools
import Testing

/// The page in a browser.
@Suite(.tags(.browser), .serialized, .timeLimit(.minutes(3))) struct ServePageTests {
    @Test(
        "In Chromium all cameras have pictures, one is opened, paused and closed by the keyboard, and a phone shows all"
    )
    func page() async throws {
        struct Seen: Decodable {
            var tiles, live, pictures, events, drawn: Int
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
        #expect(seen.summary == "3 of 4 well")
        #expect(seen.labels.contains("door, live. Opens the camera."))
        #expect(seen.opened && seen.moves && seen.closed)
        #if WebRTC
            #expect(seen.way == "Shown by WebRTC.")
        #else
            #expect(seen.way.hasPrefix("Shown as JPEGs. This build has no WebRTC."))
        #endif
        #expect(seen.delay != "-")
        #expect(seen.drawn == 1 && seen.history.contains("frames a second on average"))
        #expect((seen.paused, seen.resumed) == ("paused", "live"))
        #expect(seen.events > 0)
        #expect(seen.focus.hasPrefix("door,"))
        #expect(!seen.overflow)
        // All text can be read by day and by night (WCAG 2.2, 1.4.3), and the page follows the browser.
        #expect(seen.light[0] >= 4.5 && seen.dark[0] >= 4.5, "\(seen.light) \(seen.dark)")
        #expect(seen.light[1] > 0.8 && seen.dark[1] < 0.05)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("shot.png"))).starts(with: [0x89, 0x50]))
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
        // All elements in turn, round and back; saving is not possible yet.
        let ring = ["new-source", "new-user", "new-password", "look", "cancel", "search", "new-name"]
        #expect(seen.ring == ring + ring.prefix(2) && seen.back == "new-source")
        #expect(seen.unnamed == 0)
        #expect(seen.found == ["Front Door", "A camera without a name"])
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

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
            var tiles, live, pictures, events: Int
            var summary, delay, paused, resumed, focus, address: String
            var labels: [String]
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
        #expect(seen.delay != "-")
        #expect((seen.paused, seen.resumed) == ("paused", "live"))
        #expect(seen.events > 0)
        #expect(seen.focus.hasPrefix("door,"))
        #expect(!seen.overflow)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("shot.png"))).starts(with: [0x89, 0x50]))
        #expect(await serve.end() == 0)
    }
}

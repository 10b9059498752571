import Foundation
import ReferenceTools
import Testing

/// The console of Chromium on each page of the daemon, below a path of nginx.
@Suite(.tags(.chromium, .daemon), .serialized, .fewDaemons, .takes(atMostMinutes: 3)) struct PageConsoleTests {
    private struct Page: Decodable {
        var errors, outside: [String]
        var requests: Int
        var shown: String
    }

    @Test("No page has an error in Chromium's console, nor a request outside its path")
    func pages() async throws {
        let player = try FreePort.find()
        #if GStreamer
        let sink = ", sinks: [\"webrtc:127.0.0.1:\(player)\"]"
        #else
        let sink = ""
        #endif
        let serve = try await ServeProcess(
            """
            cameras:
              door: {source: "pattern:timecode?size=320x180&fps=10"\(sink)}
              gate: pattern:ball?size=320x180&fps=10
              shed: rtsp://127.0.0.1:9/none

            """)
        let empty = try await ServeProcess("cameras: {}\n")
        func proxy(_ serve: ServeProcess) throws -> (PeerProcess, String) {
            let process = try PeerProcess("nginx-server.py", ["--proxy", serve.address])
            return (process, "http://127.0.0.1:\(process.ready["port"]?.int ?? 0)/cams/")
        }
        let (cameras, none) = (try proxy(serve), try proxy(empty))
        let words = [
            "-B", PeerProcess.path("cameras-console.py"), cameras.1, ServeProcess.admin, "door", "shed",
            "\(none.1)?token=\(ServeProcess.admin)",
        ]
        let output = try await ReferenceCommand.runAside(
            "/usr/bin/python3", words + (sink.isEmpty ? [] : ["http://127.0.0.1:\(player)/"]))
        let seen = try JSONDecoder().decode([String: Page].self, from: output)
        #expect(seen.count == (sink.isEmpty ? 5 : 6))
        for (name, page) in seen.sorted(by: { $0.key < $1.key }) {
            // The login page has the status of the page that it replaces, for which the console has a line.
            let status = "Failed to load resource: the server responded with a status of 401 (Unauthorized)"
            #expect(page.errors == (name == "login" ? ["\(cameras.1) - \(status)"] : []), "\(name): \(page.errors)")
            #expect(page.outside.isEmpty, "\(name): \(page.outside)")
            #expect(page.requests > 0 && !page.shown.isEmpty, "\(name): \(page)")
        }
        #expect(["1", "2"].contains(seen["grid"]?.shown), "\(String(describing: seen["grid"]))")
        #expect(seen["camera"]?.shown.hasPrefix("Shown ") == true, "\(String(describing: seen["camera"]))")
        #expect(seen["broken"]?.shown.contains("Nothing listens") == true, "\(String(describing: seen["broken"]))")
        #expect(seen["player"].map { $0.shown == "True" } ?? true, "\(String(describing: seen["player"]))")
        #expect(await serve.end() == 0)
        #expect(await empty.end() == 0)
    }
}

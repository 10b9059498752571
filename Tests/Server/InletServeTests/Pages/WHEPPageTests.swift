#if GStreamer
import Foundation
import ReferenceTools
import Testing

/// The page that plays cameras by WHEP, in Chromium, and its options.
@Suite(.tags(.chromium, .daemon), .serialized, .timeLimit(.minutes(4))) struct WHEPPageTests {
    @Test(
        "Options reserved for the daemon are refused by inlet config check, with the place and the correction",
        arguments: [
            "mp4:/x", "webrtc:127.0.0.1:9000", "webrtc:?token=0123456789", "webrtc:?origin=https://example.org",
        ])
    func options(_ uri: String) async throws {
        let folder = try TemporaryFolder()
        let file = folder.path("cameras.yaml")
        try Data("server:\n  webrtc: \"\(uri)\"\ncameras:\n  door: \(WHEPTests.pattern)\n".utf8).write(
            to: URL(fileURLWithPath: file))
        let output = try await ReferenceCommand.runAside(
            "bash", ["-c", "\"$1\" config check \"$2\" 2>&1; echo status $?", "check", BuiltProgram.inlet, file])
        let text = String(decoding: output, as: UTF8.self)
        #expect(text.contains("line 2, column 11: server.webrtc: ") && text.hasSuffix("status 65\n"), "\(text)")
        #expect(text.contains("Write webrtc: with options only"), "\(text)")
        #expect(!text.contains("0123456789"))
    }

    @Test("In Chromium the page shows the opened camera by WebRTC, and its numbers are the camera's")
    func page() async throws {
        struct Page: Decodable {
            var numbers: [Int]
            var unread: Int
            var way, other, full, paused, after: String
            var closed: Bool
        }
        let serve = try await ServeProcess(
            "  webrtc: webrtc:?viewers=1\ncameras:\n"
                + "  door: \(WHEPTests.pattern)\n  yard: {source: \"\(WHEPTests.pattern)\", on-demand: true}\n")
        let output = try await ReferenceCommand.runAside(
            "/usr/bin/python3",
            [
                "-B", PeerProcess.path("cameras-webrtc.py"), "\(serve.address)/?token=\(ServeProcess.admin)",
                "door", "yard",
            ])
        let seen = try JSONDecoder().decode(Page.self, from: output)
        #expect(seen.way == "Shown by WebRTC." && seen.other == seen.way, "\(seen.other) \(serve.complaints)")
        #expect(seen.numbers.count >= 40 && seen.unread == 0)
        #expect(zip(seen.numbers, seen.numbers.dropFirst()).allSatisfy { $0 < $1 })
        // The page takes the place that another viewer leaves.
        #expect(seen.full.hasPrefix("Shown as JPEGs. There are as many viewers"), "\(seen.full)")
        // A paused camera is shown as text, and returns without help.
        #expect(seen.paused.hasPrefix("Shown as JPEGs. "), "\(seen.paused)")
        #expect(seen.after == "Shown by WebRTC." && seen.closed)
        try await WHEPTests.wait(for: 0, of: "door", serve)
        try await WHEPTests.wait(for: 0, of: "yard", serve)
        #expect(await serve.end() == 0)
    }
}
#endif

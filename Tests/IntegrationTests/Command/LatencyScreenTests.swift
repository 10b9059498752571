import Foundation
import ReferenceTools
import Testing

/// `inlet latency --screen` with a screen capture as the camera. Chromium shows the page on that screen.
@Suite(
    .tags(.chromium), .serialized,
    .enabled(if: CameraBrowser.missing == nil, "\(CameraBrowser.missing ?? "")"))
struct LatencyScreenTests {
    @Test("The page's codes are found in pictures of a screen and give the latency")
    func page() async throws {
        struct Seen: Decodable {
            struct Delay: Decodable {
                var least: Double
                var p50: Double
            }
            var pictures: Int
            var delay: Delay

            enum CodingKeys: String, CodingKey {
                case pictures
                case delay = "delay_ms"
            }
        }
        let script = PeerProcess.path("latency-screen.py")
        let output = try await ReferenceCommand.runAside(
            "/usr/bin/python3", ["-B", script, "--inlet", BuiltProgram.inlet, "--duration", "3"])
        let seen = try JSONDecoder().decode(Seen.self, from: output)
        // The page shows ten codes a second. A busy machine shows fewer.
        #expect(seen.pictures >= 10)
        #expect(seen.delay.least >= 0)
        #expect(seen.delay.p50 >= seen.delay.least)
    }

    #if GStreamer
    @Test("A stream sent by webrtc: comes back by WHEP, complete and with its token")
    func webRTC() async throws {
        struct Seen: Decodable {
            var pictures: Int
            var unreadable: Int
        }
        let port = try FreePort.find()
        let output = try await ReferenceCommand.runAside(
            BuiltProgram.inlet,
            ["latency", "--via", "webrtc:127.0.0.1:\(port)?token=let-me-in", "--frames", "30", "--json"])
        let seen = try JSONDecoder().decode(Seen.self, from: output)
        #expect(seen.pictures >= 30)
        #expect(seen.unreadable == 0)
    }
    #endif
}

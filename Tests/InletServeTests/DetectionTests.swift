import Foundation
import ReferenceTools
import Testing

/// What cameras detect, from the messages of an ONVIF device to the events of the daemon.
@Suite(.tags(.server), .timeLimit(.minutes(2))) struct DetectionTests {
    @Test("Motion and tampering become events, also after the subscription was lost, and the subscription is ended")
    func detections() async throws {
        let server = try RTSPServer.live()
        var options = ONVIFDevice.Options()
        (options.hasEvents, options.authentication) = (true, .token)
        options.profiles = [("main", server.url)]
        let device = try ONVIFDevice(options)
        let address = device.url.dropFirst("http://".count).prefix { $0 != "/" }
        let serve = try await ServeProcess(
            "cameras:\n  door: onvif://camera@\(address)/?events=true&password-env=INLET_TEST_CAMERA\n",
            environment: ["INLET_TEST_CAMERA": "secret"])
        // The events, as a client of the API gets them.
        let reader = Process()
        let log = serve.folder.path("events")
        reader.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        reader.arguments = [
            "curl", "-sN", "-m", "100", "-o", log, "-H", "authorization: Bearer \(ServeProcess.viewer)",
            "\(serve.address)/v1/events",
        ]
        try reader.run()
        defer { reader.terminate() }
        func events() -> [String] {
            ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
                .filter { $0.contains("motion") || $0.contains("tampering") }
        }
        func count(_ kind: String, _ text: String) -> Int { events().count { $0.contains(kind) && $0.contains(text) } }
        func pulls() -> Int { device.requests.count { $0.name == "PullMessages" } }
        try await Waiting.until("the subscription", progress: { device.requests.count }) { pulls() > 0 }
        try device.detect("other", true)
        try device.detect("motion", true)
        try await Waiting.until("motion", progress: { events().count }) { count("motion", "begins") == 1 }
        try device.detect("cells", true)
        try device.detect("motion", false)
        try device.detect("tampering", true)
        try await Waiting.until("tampering", progress: { events().count }) { count("tampering", "begins") == 1 }
        // What one detector sees has ended, what the other sees has not.
        #expect(count("motion", "ends") == 0)
        try device.expireSubscriptions()
        try device.detect("cells", false)
        try device.detect("tampering", false)
        try await Waiting.until("the next subscription", progress: { pulls() }) {
            count("motion", "ends") == 1 && count("tampering", "ends") == 1
        }
        #expect(events().count == 4, "\(events())")
        #expect(try await serve.ask("DELETE", "/v1/cameras/door").status == 200)
        try await Waiting.until("the end of the subscription", progress: { device.requests.count }) {
            device.requests.last?.name == "Unsubscribe" && device.requests.last?.status == 200
        }
        #expect(await serve.end() == 0)
        // Without credentials first, as ONVIF has it.
        #expect(device.requests.allSatisfy { $0.trouble.isEmpty || $0.trouble == "missing" })
        #expect(!serve.complaints.contains("secret"))
    }
}

import Foundation
import ReferenceTools
import Testing

/// Detection by cameras, from the messages of an ONVIF device to the events of the daemon.
@Suite(.tags(.daemon, .server), .fewDaemons, .takes(atMostMinutes: 2)) struct DetectionTests {
    /// An RTSP camera, its ONVIF device, which sends events, and the URI of both.
    private static func camera() throws -> (server: RTSPServer, device: ONVIFDevice, uri: String) {
        let server = try RTSPServer.live()
        var options = ONVIFDevice.Options()
        (options.hasEvents, options.authentication) = (true, .token)
        options.profiles = [("main", server.url)]
        let device = try ONVIFDevice(options)
        let address = device.url.dropFirst("http://".count).prefix { $0 != "/" }
        return (server, device, "onvif://camera@\(address)/?events=true&password-env=INLET_TEST_CAMERA")
    }

    @Test("Motion and tampering become events, also after the subscription was lost, and the subscription is ended")
    func detections() async throws {
        let (server, device, uri) = try Self.camera()
        defer { server.stop() }
        let serve = try await ServeProcess(
            "cameras:\n  door: \(uri)\n",
            environment: ["INLET_TEST_CAMERA": "secret"])
        // The events that an API client receives.
        let reader = Process()
        let log = serve.folder.path("events")
        reader.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        reader.arguments = [
            "curl", "-sN", "-m", "100", "-o", log, "-H", "authorization: Bearer \(ServeProcess.viewer)",
            "\(serve.address)/v1/events",
        ]
        try reader.runUnblocked()
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
        // One detector's event has ended, the other's has not.
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
        // The first request is without credentials, as ONVIF requires.
        #expect(device.requests.allSatisfy { $0.trouble.isEmpty || $0.trouble == "missing" })
        #expect(!serve.complaints.contains("secret"))
    }

    private struct List: Decodable {
        struct Item: Decodable {
            struct Gap: Decodable {}
            var name, state, start, cause: String
            var asked: String?
            var gaps: [Gap]
        }
        var recordings: [Item]
    }

    private static func list(_ serve: ServeProcess) async throws -> [List.Item] {
        let (_, body) = try await serve.ask("GET", "/v1/cameras/door/recordings", token: ServeProcess.viewer)
        return try JSONDecoder().decode(List.self, from: body).recordings
    }

    @Test("Motion starts a recording with the pictures before it, and ffprobe decodes all of them")
    func recording() async throws {
        let (server, device, uri) = try Self.camera()
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let serve = try await ServeProcess(
            """
            defaults:
              record: {folder: "\(folder.path("recordings"))", before: 3s, after: 2s, events: [motion]}
            cameras:
              door: \(uri)

            """, environment: ["INLET_TEST_CAMERA": "secret"])
        try await Waiting.until("the subscription", progress: { device.requests.count }) {
            device.requests.contains { $0.name == "PullMessages" }
        }
        // Other kinds of events start no recording.
        try device.detect("tampering", true)
        let seen = try await serve.camera("door") { $0.captured > 0 }.captured
        _ = try await serve.camera("door") { $0.captured > seen + 150 }
        #expect(try await Self.list(serve).isEmpty)
        let moved = Date().timeIntervalSince1970
        try device.detect("motion", true)
        let recordings = try await ServeProcess.last {
            try await Self.list(serve)
        } until: {
            $0.first?.state == "complete"
        }
        let item = try #require(recordings.first)
        #expect(recordings.count == 1 && item.state == "complete" && item.cause == "motion", "\(recordings)")
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let start = try format.parse(item.start).timeIntervalSince1970
        let asked = try format.parse(try #require(item.asked)).timeIntervalSince1970
        #expect(asked > moved - 0.1 && asked - start > 2.9, "\(moved) \(asked) \(start)")
        let file = folder.path("recordings/door/\(item.name)")
        let output = try await ReferenceCommand.runAside(
            "ffprobe", ["-v", "error", "-show_entries", "frame=pts_time,key_frame", "-of", "csv=p=0", file])
        let frames = String(decoding: output, as: UTF8.self).split(separator: "\n").map { $0.split(separator: ",") }
        #expect(frames.first?.first == "1", "\(frames.prefix(2))")
        let times = frames.compactMap { $0.count > 1 ? Double($0[1]) : nil }
        // There is no gap between the pictures before and after the motion. The number of pictures depends on the
        // camera, which falls behind on a busy machine.
        #expect(times.first.map { start + $0 < asked - 2.5 } == true, "\(start) \(asked) \(times)")
        #expect(times.last.map { start + $0 > asked + 1.5 } == true, "\(start) \(asked) \(times)")
        #expect(item.gaps.isEmpty && zip(times, times.dropFirst()).allSatisfy { $1 - $0 < 0.5 }, "\(times)")
        #expect(await serve.end() == 0)
    }
}

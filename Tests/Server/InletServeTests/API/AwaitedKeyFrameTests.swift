import Foundation
import InletCore
import ReferenceTools
import Testing

/// Viewers and recordings of cameras with a key frame a minute: the daemon requests one, by RTCP or ONVIF.
@Suite(.tags(.daemon, .server), .serialized, .fewDaemons, .takes(atMostMinutes: 4)) struct AwaitedKeyFrameTests {
    private static func camera(takesRequests: Bool) throws -> RTSPServer {
        var options = RTSPServer.Options(
            size: ImageSize(width: 320, height: 240), frameRate: Rational(20), keyFrameInterval: 1200)
        options.takesKeyFrameRequests = takesRequests
        return try RTSPServer(options)
    }

    /// The packets that are kept are so few that soon there is no key frame among them.
    private static func settings(_ source: String) -> String {
        "cameras:\n  door:\n    source: \"\(source)\"\n    record: {folder: kept, before: 1s, memory: 20k}\n"
    }

    /// Waits until the packets since the last key frame are too many to be kept.
    private static func waitUntilForgotten(_ serve: ServeProcess) async throws {
        let now = try await serve.camera("door") { _ in true }.captured
        _ = try await serve.camera("door") { $0.captured > now + 60 }
    }

    /// Starts viewers that wait for a stream for some seconds.
    private static func viewers(_ count: Int, of serve: ServeProcess) async throws {
        let script = """
            for n in $(seq \(count)); do
                curl -s -m 5 -o /dev/null -H 'authorization: Bearer \(ServeProcess.viewer)' "$1" &
            done; wait
            """
        try await ReferenceCommand.runAside(
            "bash", ["-c", script, "viewers", serve.address + "/v1/cameras/door/stream.mp4"])
    }

    @Test("A viewer that waits for a key frame has a camera asked for one by ONVIF, and many viewers for no more")
    func synchronizationPoints() async throws {
        let server = try Self.camera(takesRequests: false)
        var options = ONVIFDevice.Options()
        options.profiles = [("main", server.url)]
        let device = try ONVIFDevice(options)
        let serve = try await ServeProcess(
            Self.settings("\(server.url)?transport=tcp&onvif=\(device.url)&onvif-profile=main"))
        try await Self.waitUntilForgotten(serve)
        // The requests for the first pictures end with a key frame, which came with the first packets.
        var first = -1
        while first != device.synchronizations.count {
            first = device.synchronizations.count
            try await ReferenceCommand.runAside("sleep", ["3"])
        }
        let (before, begun) = (device.synchronizations.count, ContinuousClock.now)
        try await Self.viewers(12, of: serve)
        // The device answers, but its camera sends no key frame, so the request is repeated.
        let most = (ContinuousClock.now - begun) / .seconds(1)
        let requests = device.synchronizations.count - before
        #expect(requests >= 1 && Double(requests) <= most + 2, "\(requests) in \(most) s")
        #expect(device.synchronizations.allSatisfy { $0.profile == "main" })
        #expect(await serve.end() == 0)
    }

    @Test("A stream, a playlist, a recording and an RTSP reader begin with a key frame that was requested")
    func beginnings() async throws {
        let server = try Self.camera(takesRequests: true)
        let restream = try FreePort.find()
        // A build without WebRTC has no RTSP server.
        #if GStreamer
        let head = "  restream: 127.0.0.1:\(restream)\n"
        #else
        let head = ""
        #endif
        let serve = try await ServeProcess(head + Self.settings("\(server.url)?transport=tcp"))
        func requests() throws -> Int { try server.report()["keyRequests"]?.int ?? 0 }
        func read(_ input: [String]) async throws -> Int {
            try await Self.waitUntilForgotten(serve)
            let before = try requests()
            let sums = try await ReferenceCommand.runAside(
                "ffmpeg", ["-v", "error"] + input + ["-frames:v", "5", "-f", "framemd5", "-"])
            #expect(FrameSums.sums(of: sums).count == 5, "\(input)")
            return try requests() - before
        }
        let token = "?token=\(ServeProcess.viewer)"
        for path in ["stream.mp4", "stream.m3u8"] {
            #expect(try await read(["-i", "\(serve.address)/v1/cameras/door/\(path)\(token)"]) >= 1, "\(path)")
        }
        if !head.isEmpty {
            let reader = "rtsp://wall:\(ServeProcess.viewer)@127.0.0.1:\(restream)/door"
            #expect(try await read(["-rtsp_transport", "tcp", "-i", reader]) >= 1)
        }
        #expect(try await serve.ask("GET", "/v1/cameras/door/snapshot.jpg").status == 200)
        try await Self.waitUntilForgotten(serve)
        let before = try requests()
        #expect(try await serve.ask("POST", "/v1/cameras/door/record", body: "{\"seconds\": 4}").status == 202)
        let list = try await ServeProcess.last {
            try await serve.ask("GET", "/v1/cameras/door/recordings").body
        } until: {
            String(decoding: $0, as: UTF8.self).contains("\"complete\"")
        }
        #expect(String(decoding: list, as: UTF8.self).contains("\"complete\""), "\(serve.complaints)")
        #expect(try requests() > before)
        #expect(await serve.end() == 0)
    }
}

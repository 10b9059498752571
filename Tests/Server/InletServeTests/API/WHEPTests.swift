#if GStreamer
import Foundation
import InletCore
import ReferenceTools
import Testing

/// The daemon's cameras over WHEP, viewed by aiortc and Chromium.
@Suite(.tags(.rtcPeer, .daemon, .server), .serialized, .timeLimit(.minutes(4))) struct WHEPTests {
    private static let python = PeerProcess.python
    static let pattern = "pattern:timecode?size=320x180&fps=20"
    private static let guest = "guest-0123456789abcdefghij"
    private static let sdp = "application/sdp"

    struct Seen: Decodable {
        var status: Int
        var count, missing, deleted: Int?
        var unread: Int
        var rises: Bool?
        var error: String?
        var rounds: [Int]?
    }

    private struct Statistics: Decodable {
        struct Sink: Decodable {
            var name: String
            var delivered: Int
            var drops: [String: Int]
        }
        var captured, converted, openings: Int
        var sinks: [Sink]

        var webRTC: Sink? { sinks.last { $0.name == "webrtc" } }
    }

    private static func statistics(_ serve: ServeProcess, _ camera: String) async throws -> Statistics {
        let (_, body) = try await serve.ask("GET", "/v1/cameras/\(camera)/statistics")
        return try JSONDecoder().decode(Statistics.self, from: body)
    }

    private struct Viewers: Decodable { var viewers: Int }

    /// Waits until a camera has this many viewers.
    static func wait(for count: Int, of camera: String, _ serve: ServeProcess) async throws {
        let seen = try await ServeProcess.last {
            let (_, body) = try await serve.ask("GET", "/v1/cameras/\(camera)")
            return try JSONDecoder().decode(Viewers.self, from: body).viewers
        } until: {
            $0 == count
        }
        #expect(seen == count, "\(serve.complaints)")
    }

    /// The report of whep-viewer.py about a camera.
    static func view(
        _ camera: String, _ serve: ServeProcess, _ options: [String] = [], token: String? = ServeProcess.viewer
    ) async throws -> Seen {
        let path = "\(serve.address)/v1/cameras/\(camera)/whep"
        let output = try await ReferenceCommand.runAside(
            python,
            ["-B", PeerProcess.path("whep-viewer.py"), path] + (token.map { ["--token", $0] } ?? []) + options)
        return try JSONDecoder().decode(Seen.self, from: output)
    }

    /// Runs `body` while a viewer watches, and then kills it.
    private static func watching(
        _ camera: String, _ serve: ServeProcess, _ body: () async throws -> Void
    ) async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = [
            "-B", PeerProcess.path("whep-viewer.py"), "\(serve.address)/v1/cameras/\(camera)/whep",
            "--token", ServeProcess.viewer, "--seconds", "600",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        try await wait(for: 1, of: camera, serve)
        try await body()
    }

    @Test(
        "aiortc reads every number of a camera; nothing is converted before it joins and after it has left",
        .enabled(if: hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
    func numbers() async throws {
        let serve = try await ServeProcess("  audit: audit.jsonl\ncameras:\n  door: \(Self.pattern)\n")
        _ = try await serve.camera("door") { $0.captured > 40 }
        let before = try await Self.statistics(serve, "door")
        #expect(before.converted == 0 && before.webRTC == nil)
        for _ in 0..<2 {
            let seen = try await Self.view("door", serve, ["--frames", "100"])
            #expect((seen.status, seen.count, seen.unread) == (201, 100, 0), "\(seen) \(serve.complaints)")
            #expect(seen.error == nil && seen.rises == true && seen.deleted == 200)
            // Frames that a busy machine skipped are counted there.
            let drops = try #require(try await Self.statistics(serve, "door").webRTC?.drops)
            #expect(seen.missing ?? .max <= drops.filter { $0.key != "notConnected" }.values.reduce(0, +))
            try await Self.wait(for: 0, of: "door", serve)
        }
        // Encoders are closed with one more picture, and one may be on its way.
        let gone = try await Self.statistics(serve, "door")
        _ = try await serve.camera("door") { $0.captured > gone.captured + 40 }
        let after = try await Self.statistics(serve, "door")
        #expect(after.converted <= gone.converted + 3 && after.openings == 1)
        #expect(await serve.end() == 0)
        let audit = try String(contentsOfFile: serve.folder.path("audit.jsonl"), encoding: .utf8)
        let lines = audit.split(separator: "\n")
        #expect(lines.count == 2)
        for line in lines {
            #expect(line.contains(#""who":"wall""#) && line.contains(#""action":"watch","camera":"door""#))
            #expect(line.contains(#""outcome":"done""#))
        }
    }

    @Test("Each refusal has its status, and none opens a session")
    func refusals() async throws {
        let serve = try await ServeProcess(
            """
              webrtc: webrtc:?stun=127.0.0.1:9&turn=127.0.0.1:9&turn-user=me&turn-password-env=INLET_RELAY
              tokens:
                boss: {scope: admin, env: INLET_ADMIN}
                wall: {scope: view, env: INLET_VIEWER}
                guest: {scope: control, env: INLET_GUEST, cameras: [yard]}
            cameras:
              door: \(Self.pattern)
              yard: \(Self.pattern)

            """, tokens: false, environment: ["INLET_GUEST": Self.guest, "INLET_RELAY": "relay-password"])
        _ = try await serve.camera("door") { $0.captured > 0 }
        let (whep, viewer) = ("/v1/cameras/door/whep", ServeProcess.viewer)
        let long = String(repeating: "a", count: 65_537)
        let cases: [(Int, String, String, String?, String?, [String])] = [
            (401, "POST", whep, nil, "v=0", []), (401, "OPTIONS", whep, nil, nil, []),
            (401, "POST", whep, "wrong-0123456789abcdefghij", "v=0", []),
            (401, "DELETE", whep + "/0", nil, nil, []),
            (404, "POST", whep, Self.guest, "v=0", []), (404, "OPTIONS", whep, Self.guest, nil, []),
            (404, "POST", "/v1/cameras/none/whep", viewer, "v=0", []), (400, "POST", whep, viewer, "v=0", []),
            (413, "POST", whep, viewer, long, []), (400, "POST", whep + "?dry-run=true", viewer, "v=0", []),
            (403, "POST", whep, viewer, "v=0", ["sec-fetch-site: cross-site"]),
            (405, "GET", whep, viewer, nil, []), (204, "OPTIONS", whep, viewer, nil, []),
            (404, "DELETE", whep + "/0", viewer, nil, []),
            (404, "PATCH", whep + "/0", viewer, "a=ice", ["if-match: \"a\""]),
            (405, "POST", whep + "/0", viewer, "v=0", []),
        ]
        #expect(try await serve.ask("POST", whep, token: viewer, body: "{}").status == 415)
        for (status, method, path, token, body, headers) in cases {
            let answer = try await serve.ask(
                method, path, token: token, body: body, type: Self.sdp, headers: headers)
            #expect(answer.status == status, "\(method) \(path): \(String(decoding: answer.body, as: UTF8.self))")
        }
        // The servers that a viewer may use, and none without viewing rights.
        let heads = try await serve.run(
            "curl",
            [
                "-si", "-X", "OPTIONS", serve.address + whep, "-H", "authorization: Bearer \(viewer)",
                "--next", "-si", "-X", "OPTIONS", serve.address + whep,
            ])
        let links = String(decoding: heads, as: UTF8.self).split(separator: "\r\n").filter {
            $0.hasPrefix("link: ")
        }
        #expect(links.count == 2 && links.contains { $0.hasPrefix("link: <stun:127.0.0.1:9>; rel=\"ice-server\"") })
        #expect(links.contains { $0.contains("turn:127.0.0.1:9") && $0.contains("credential=\"relay-password\"") })
        // A paused camera has no picture.
        #expect(try await serve.ask("POST", "/v1/cameras/door/pause").status == 204)
        let seen = try await Self.view("door", serve)
        #expect(seen.status == 409)
        try await Self.wait(for: 0, of: "door", serve)
        #expect(!serve.complaints.contains("relay-password"))
        #expect(await serve.end() == 0)
    }

    @Test(
        "A camera on demand is opened by the first viewer, whose numbers are the camera's, and closed after the last",
        .enabled(if: hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"),
        .enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"))
    func onDemand() async throws {
        let camera = try RTSPServer(
            RTSPServer.Options(
                size: ImageSize(width: 320, height: 240), frameRate: Rational(20), keyFrameInterval: 20))
        let serve = try await ServeProcess("cameras:\n  door: {source: \"\(camera.url)\", on-demand: 1s}\n")
        // A line that appears only at this level.
        let asIs = "packets are sent to viewers unchanged"
        let level = try await serve.ask("PUT", "/v1/log-level", body: #"{"level": "info"}"#)
        #expect(level.status == 200 && !serve.complaints.contains(asIs))
        for openings in 1...2 {
            _ = try await serve.camera("door") { $0.state == "unwatched" && $0.openings == openings }
            let seen = try await Self.view("door", serve, ["--frames", "160"])
            #expect((seen.status, seen.count, seen.unread) == (201, 160, 0), "\(seen) \(serve.complaints)")
            #expect(seen.rises == true)
        }
        // The camera's own packets were sent: only the first pictures were encoded, until forwarding was known to
        // work.
        let delivered = try #require(try await Self.statistics(serve, "door").webRTC?.delivered)
        #expect(delivered < 160, "\(delivered)")
        #expect(serve.complaints.contains(asIs))

        // A viewer that vanishes counts as gone, like one that says goodbye.
        try await Self.watching("door", serve) {}
        try await Self.wait(for: 0, of: "door", serve)
        _ = try await serve.camera("door") { $0.state == "unwatched" }
        #expect(await serve.end() == 0)
    }

    @Test(
        "A camera on demand that was paused and resumed without viewers is opened by the next viewer",
        .enabled(if: hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
    func paused() async throws {
        let serve = try await ServeProcess(
            "cameras:\n  door: {source: \"\(Self.pattern)\", on-demand: 1s}\n")
        #expect(try await Self.view("door", serve, ["--frames", "20"]).count == 20)
        _ = try await serve.camera("door") { $0.state == "unwatched" }
        #expect(try await serve.ask("POST", "/v1/cameras/door/pause").status == 204)
        _ = try await serve.camera("door") { $0.state == "paused" }
        #expect(try await Self.view("door", serve).status == 409)
        #expect(try await serve.ask("POST", "/v1/cameras/door/resume").status == 204)
        _ = try await serve.camera("door") { $0.state == "unwatched" }
        let seen = try await Self.view("door", serve, ["--frames", "20"])
        #expect(seen.status == 201 && seen.count == 20, "\(seen) \(serve.complaints)")
        #expect(await serve.end() == 0)
    }

    @Test("At most as many offers as viewers wait for a camera's first picture; clients that hang up do not")
    func waiting() async throws {
        // Offers wait as long as the camera may still be opened.
        let silent = try HostileServer(.blackHole)
        let serve = try await ServeProcess(
            """
              webrtc: "webrtc:?viewers=3&per-client=2"
            cameras:
              door: {source: "rtsp://127.0.0.1:\(silent.port)/?connect-timeout=2m", timeout: 2m}

            """)
        // Simultaneous offers, each from a different address.
        func offer(_ addresses: [String], seconds: Int) async throws -> [String] {
            let script = """
                url=$1 token=$2 seconds=$3
                shift 3
                for address; do
                    curl -s -m "$seconds" -o /dev/null -w '%{http_code} %header{retry-after}\n' "$url" --interface "$address" \
                        -H "authorization: Bearer $token" -H 'content-type: application/sdp' -d v=0 &
                done
                wait
                """
            let output = try await serve.run(
                "bash",
                [
                    "-c", script, "offer", "\(serve.address)/v1/cameras/door/whep", ServeProcess.viewer,
                    "\(seconds)",
                ] + addresses)
            return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init).sorted()
        }
        let one = Array(repeating: "127.0.0.1", count: 4)
        #expect(try await offer(one, seconds: 60) == ["409 2", "409 2", "429 5", "429 5"])
        let four = (1...4).map { "127.0.0.\($0)" }
        #expect(try await offer(four, seconds: 60) == ["409 2", "409 2", "409 2", "503 5"])
        // Those that have gone have left their places; the others still wait.
        #expect(try await offer(Array(four.prefix(3)), seconds: 3).allSatisfy { $0.hasPrefix("000") })
        #expect(try await offer(Array(four.prefix(3)), seconds: 60) == ["409 2", "409 2", "409 2"])
        #expect(await serve.end() == 0)
    }

    @Test("A session of one camera is not one of another's, and continues")
    func otherCamera() async throws {
        let serve = try await ServeProcess("cameras:\n  door: \(Self.pattern)\n  yard: \(Self.pattern)\n")
        _ = try await serve.camera("door") { $0.captured > 0 }
        // Both have a sink that runs.
        var sessions: [String] = []
        for camera in ["door", "yard"] {
            let output = try await serve.run(
                "curl",
                [
                    "-s", "-m", "30", "-o", "/dev/null", "-w", "%{http_code} %header{location}",
                    "\(serve.address)/v1/cameras/\(camera)/whep", "-H", "content-type: \(Self.sdp)",
                    "-H", "authorization: Bearer \(ServeProcess.viewer)", "--data-binary", Self.offer,
                ])
            let words = String(decoding: output, as: UTF8.self).split(separator: " ")
            try #require(words.count == 2 && words[0] == "201", "\(words) \(serve.complaints)")
            try sessions.append(String(#require(words[1].split(separator: "/").last)))
        }
        let door = sessions[0]
        for (method, type) in [("DELETE", nil), ("PATCH", "application/trickle-ice-sdpfrag")] {
            let answer = try await serve.ask(
                method, "/v1/cameras/yard/whep/\(door)", token: ServeProcess.viewer,
                body: type == nil ? nil : "a=end-of-candidates\r\n", type: type ?? "", headers: ["if-match: *"])
            #expect(answer.status == 404, "\(method)")
        }
        // The session existed until now.
        let own = "/v1/cameras/door/whep/\(door)"
        #expect(try await serve.ask("DELETE", own, token: ServeProcess.viewer).status == 200)
        try await Self.wait(for: 0, of: "door", serve)
        #expect(try await serve.ask("DELETE", own, token: ServeProcess.viewer).status == 404)
        #expect(await serve.end() == 0)
    }

    /// The offer of a viewer that sends no media.
    private static let offer = """
        v=0\r
        o=- 1 2 IN IP4 127.0.0.1\r
        s=-\r
        t=0 0\r
        a=group:BUNDLE 0\r
        m=video 9 UDP/TLS/RTP/SAVPF 96\r
        c=IN IP4 0.0.0.0\r
        a=ice-ufrag:none\r
        a=ice-pwd:nobodynobodynobodynobody\r
        a=fingerprint:sha-256 \(repeatElement("00", count: 32).joined(separator: ":"))\r
        a=setup:actpass\r
        a=mid:0\r
        a=recvonly\r
        a=rtcp-mux\r
        a=rtpmap:96 H264/90000\r
        a=rtcp-fb:96 nack pli\r
        a=fmtp:96 packetization-mode=1;profile-level-id=42e01f\r

        """

    @Test(
        "Viewers count among the streams of all cameras; the place of a vanished viewer is free again",
        .enabled(if: hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
    func limits() async throws {
        let serve = try await ServeProcess(
            "  streams: 1\ncameras:\n  door: \(Self.pattern)\n  yard: \(Self.pattern)\n")
        try await Self.watching("door", serve) {
            for camera in ["yard", "door"] {
                let seen = try await Self.view(camera, serve)
                #expect(seen.status == 503, "\(camera)")
            }
            let stream = try await serve.ask("GET", "/v1/cameras/door/stream.mjpeg")
            #expect(stream.status == 429)
        }
        try await Self.wait(for: 0, of: "door", serve)
        #expect(try await Self.view("yard", serve, ["--frames", "20"]).count == 20)
        // A session ends with its camera, and leaves its place.
        try await Self.watching("door", serve) {
            let restart = try await serve.ask("POST", "/v1/cameras/door/restart")
            #expect(restart.status == 204)
            try await Self.wait(for: 0, of: "door", serve)
        }
        #expect(try await Self.view("door", serve, ["--frames", "20"]).count == 20)
        #expect(await serve.end() == 0)
    }

    @Test(
        "After 20 rounds of viewers the daemon has no more memory, threads and descriptors than after the first 5",
        .enabled(if: hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
    func rounds() async throws {
        struct Usage {
            var kilobytes, threads, descriptors: Int

            init(of process: Int32) throws {
                let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
                let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
                kilobytes = try #require(line.split(separator: " ").dropLast().last.flatMap { Int($0) })
                threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task").count
                descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
            }
        }
        let serve = try await ServeProcess("cameras:\n  door: \(Self.pattern)\n")
        func see(_ rounds: Int) async throws -> Usage {
            let seen = try await Self.view("door", serve, ["--frames", "5", "--rounds", "\(rounds)"])
            #expect(seen.rounds == Array(repeating: 5, count: rounds), "\(seen) \(serve.complaints)")
            try await Self.wait(for: 0, of: "door", serve)
            return try Usage(of: serve.process.processIdentifier)
        }
        let before = try await see(5)
        _ = try await see(20)
        // Queues keep a few threads for some seconds, each with a descriptor or two.
        let after = try await ServeProcess.last {
            try Usage(of: serve.process.processIdentifier)
        } until: {
            $0.threads <= before.threads + 8 && $0.descriptors <= before.descriptors + 8
        }
        #expect(after.threads <= before.threads + 8 && after.descriptors <= before.descriptors + 8)
        #expect(after.kilobytes < before.kilobytes + 12_000, "\(before) \(after)")
        #expect(await serve.end() == 0)
    }

    static let hasAiortc =
        (try? ReferenceCommand.run(python, ["-c", "import aiortc, aiohttp, numpy"])) != nil
}
#endif

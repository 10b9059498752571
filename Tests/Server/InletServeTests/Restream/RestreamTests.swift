#if GStreamer
import Foundation
import InletCore
import ReferenceTools
import Testing

/// The daemon's cameras over RTSP, read by ffmpeg and GStreamer.
@Suite(.tags(.daemon, .server), .serialized, .fewDaemons, .takes(atMostMinutes: 6)) struct RestreamTests {
    private static let guest = "guest-0123456789abcdefghij"

    private static func camera(_ codec: RTSPServer.Codec = .h264) throws -> RTSPServer {
        var options = RTSPServer.Options()
        (options.codec, options.size, options.frameRate, options.keyFrameInterval) = (
            codec, ImageSize(width: 320, height: 240), Rational(20), 20
        )
        return try RTSPServer(options)
    }

    /// The daemon with a camera, and the address of its RTSP server, with the login of a token's user.
    private static func daemon(
        _ cameras: String, tokens: Bool = true
    ) async throws -> (serve: ServeProcess, place: String) {
        let port = try FreePort.find()
        let guests = "    visitor: {scope: view, env: INLET_GUEST, cameras: [drawn]}\n"
        let serve = try await ServeProcess(
            (tokens ? guests : "") + "  restream: 127.0.0.1:\(port)\ncameras:\n" + cameras, tokens: tokens,
            environment: ["INLET_GUEST": guest])
        return (serve, "127.0.0.1:\(port)")
    }

    private static func url(_ place: String, _ path: String, user: String = "wall") -> String {
        "rtsp://\(user):\(user == "wall" ? ServeProcess.viewer : guest)@\(place)/\(path)"
    }

    /// The digests of the first packets that ffmpeg copies from an address.
    ///
    /// - Parameters:
    ///   - filter: one of ffmpeg's bitstream filters.
    ///   - beginsAnywhere: whether packets before the first that ffmpeg regards as a key frame count as well.
    private static func packets(
        _ count: Int, of url: String, _ transport: String = "tcp", filter: String = "null",
        beginsAnywhere: Bool = false
    ) async throws -> [String] {
        let sums = try await ReferenceCommand.runAside(
            "ffmpeg",
            [
                "-nostdin", "-v", "error", "-rtsp_transport", transport, "-i", url, "-c", "copy",
            ] + (beginsAnywhere ? ["-copyinkf"] : [])
                + ["-bsf:v", filter, "-frames:v", "\(count)", "-f", "framemd5", "-"])
        return FrameLines(sums).lines.map(\.md5)
    }

    /// ffmpeg's output for an address from which it reads some packets.
    private static func complaint(_ url: String) async throws -> String {
        let output = try await ReferenceCommand.runAside(
            "sh",
            ["-c", "timeout 60 ffmpeg -nostdin -v error -i \"$0\" -frames:v 2 -f null - 2>&1; true", url])
        return String(decoding: output, as: UTF8.self)
    }

    @Test("A reader of a camera with rare key frames begins with the last one, and misses no picture after it")
    func rareKeyFrames() async throws {
        var options = RTSPServer.Options()
        (options.size, options.frameRate) = (ImageSize(width: 160, height: 120), Rational(20))
        // A minute: no reader waits that long.
        options.keyFrameInterval = 1200
        let camera = try RTSPServer(options)
        let (serve, place) = try await Self.daemon(
            "  door: {source: \"\(camera.url)\", record: {folder: /nowhere}}\n")
        _ = try await serve.camera("door") { $0.captured > 100 }
        let url = Self.url(place, "door")
        #expect(try await Self.packets(120, of: url).count == 120)
        let shown = try await ReferenceCommand.runAside(
            "ffmpeg",
            ["-nostdin", "-v", "error", "-rtsp_transport", "tcp", "-i", url, "-frames:v", "120", "-f", "null", "-"])
        #expect(shown.isEmpty)
        #expect(await serve.end() == 0)
    }

    @Test(
        "Readers get the packets that the camera sends, byte for byte, from one session with the camera",
        arguments: [
            (.h264, "tcp"), (.h264, "udp"), (.h265, "tcp"), (.mjpeg, "tcp"), (.vp8, "tcp"),
            (.vp9, "udp"),
        ] as [(RTSPServer.Codec, String)])
    func packets(codec: RTSPServer.Codec, transport: String) async throws {
        let camera = try Self.camera(codec)
        let (serve, place) = try await Self.daemon("  door: \"\(camera.url)\"\n")
        _ = try await serve.camera("door") { $0.captured > 1 }
        // This camera states its H.265 parameter sets only in its description; Inlet inserts them before key
        // frames.
        let filter = codec == .h265 ? "filter_units=remove_types=32-34" : "null"
        // ffmpeg detects no key frames in VP9 over RTP.
        let beginsAnywhere = codec == .vp9
        @Sendable func packets(_ count: Int, of url: String, _ transport: String) async throws -> [String] {
            try await Self.packets(count, of: url, transport, filter: filter, beginsAnywhere: beginsAnywhere)
        }
        async let direct = packets(200, of: camera.url, "tcp")
        async let first = packets(60, of: Self.url(place, "door"), transport)
        async let second = packets(80, of: Self.url(place, "door"), transport)
        let (sent, readers) = try await (direct, [first, second])
        for seen in readers {
            // A reader may begin with a key frame from before ffmpeg's own.
            let known = seen.filter { sent.contains($0) }
            #expect(known.count >= 30, "\(known.count) of \(seen.count)")
            let start = try #require(sent.firstIndex(of: known[0]))
            let common = min(known.count, sent.count - start)
            #expect(Array(known.prefix(common)) == Array(sent[start..<start + common]))
            let begin = try #require(seen.firstIndex(of: known[0]))
            #expect(Array(seen[begin..<begin + common]) == Array(known.prefix(common)), "one lacks in between")
        }
        #expect(try await serve.camera("door") { _ in true }.openings == 1)
        let requests = try camera.report()["requests"]
        #expect(requests?["play"]?.int == 2, "ffmpeg's own and the daemon's: \(String(describing: requests))")
        #expect(await serve.end() == 0)
    }

    @Test("A reader without a login, for an unknown path, or for a camera without packets gets the reason")
    func refusals() async throws {
        let camera = try Self.camera()
        let (serve, place) = try await Self.daemon(
            "  door: \"\(camera.url)\"\n  drawn: pattern:smpte?size=64x64&fps=5\n")
        _ = try await serve.camera("drawn") { $0.captured > 1 }
        for (url, status) in [
            ("rtsp://\(place)/door", "401"), ("rtsp://wall:falsch-0815@\(place)/door", "401"),
            ("rtsp://\(place)/none", "401"), (Self.url(place, "none"), "404"), (Self.url(place, ""), "404"),
            (Self.url(place, "../door"), "404"), (Self.url(place, "door", user: "visitor"), "404"),
            // ffmpeg has no text for 415.
            (Self.url(place, "drawn", user: "visitor"), "415"),
        ] {
            let text = try await Self.complaint(url)
            #expect(text.contains("DESCRIBE failed: \(status)"), "\(status): \(text)")
        }
        #expect(try await Self.packets(5, of: Self.url(place, "door")).count == 5)
        let log = serve.complaints
        #expect(!log.contains(ServeProcess.viewer) && !log.contains(Self.guest) && !log.contains("falsch-0815"))
        // A removed camera has no readers any more, and an added one gets some.
        async let left = Self.packets(100_000, of: Self.url(place, "door"))
        try await Task.sleep(for: .seconds(1))
        #expect(try await serve.ask("DELETE", "/v1/cameras/door").status < 300)
        _ = try? await left
        #expect(try await Self.complaint(Self.url(place, "door")).contains("404"))
        let body = "{\"source\": \"\(camera.url)\"}"
        #expect(try await serve.ask("PUT", "/v1/cameras/gate", body: body).status < 300)
        #expect(try await Self.packets(5, of: Self.url(place, "gate")).count == 5)
        #expect(await serve.end() == 0)
    }

    @Test("A reader that is refused after packets have arrived leaves no thread behind")
    func refusedLate() async throws {
        // There is no payload format for MPEG-4 here, which is known once the first packet has arrived.
        let folder = try TemporaryFolder()
        _ = try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=10", "-t", "60", "-c:v", "mpeg4", "-g", "5",
            folder.path("old.mp4"),
        ])
        var options = RTSPServer.Options()
        options.file = folder.path("old.mp4")
        let camera = try RTSPServer(options)
        let (serve, place) = try await Self.daemon("  old: \"\(camera.url)\"\n")
        _ = try await serve.camera("old") { $0.captured > 1 }
        for _ in 0..<3 {
            let text = try await Self.complaint(Self.url(place, "old"))
            #expect(text.contains("DESCRIBE failed: 415"), "\(text) \(serve.complaints)")
        }
        let tasks = "/proc/\(serve.process.processIdentifier)/task"
        let names = try FileManager.default.contentsOfDirectory(atPath: tasks).map {
            (try? String(contentsOfFile: "\(tasks)/\($0)/comm", encoding: .utf8)) ?? ""
        }
        #expect(names.contains { $0.hasPrefix("inlet") })
        #expect(!names.contains { $0.hasPrefix("inlet-restream") }, "\(names)")
        #expect(await serve.end() == 0)
    }

    @Test("RTCP gives each packet the camera's time of day")
    func times() async throws {
        let camera = try Self.camera()
        let (serve, place) = try await Self.daemon("  door: \"\(camera.url)\"\n", tokens: false)
        _ = try await serve.camera("door") { $0.captured > 1 }
        let output = try await ReferenceCommand.runAside(
            "/usr/bin/python3", ["-B", PeerProcess.path("rtsp-times.py"), camera.url, "rtsp://\(place)/door"])
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n")
        let times = try lines.map { try JSONDecoder().decode([String: Double].self, from: Data($0.utf8)) }
        try #require(times.count == 2)
        let differences = times[0].compactMap { digest, time in times[1][digest].map { abs($0 - time) } }.sorted()
        #expect(differences.count > 20)
        // A busy machine reads some reports late.
        #expect(differences[differences.count / 2] < 0.1, "\(differences)")
        #expect(await serve.end() == 0)
    }

    @Test("Pictures with different decoding and display orders keep their times")
    func reordered() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("reordered.mp4")
        _ = try await ReferenceCommand.runAside(
            "ffmpeg",
            [
                "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=60",
                "-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-g", "25", path,
            ])
        let (serve, place) = try await Self.daemon("  door: \"file:\(path)?pace=realtime\"\n")
        _ = try await serve.camera("door") { $0.captured > 1 }
        let output = try await ReferenceCommand.runAside(
            "ffprobe",
            [
                "-v", "error", "-rtsp_transport", "tcp", "-read_intervals", "%+#75", "-show_entries",
                "packet=pts_time", "-of", "csv=p=0", Self.url(place, "door"),
            ])
        let times = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .compactMap { Double($0.prefix { $0 != "," }) }
        // ffprobe may not know the time of the first.
        #expect(times.count >= 70)
        let shown = times.sorted()
        #expect(times != shown, "the file has no pictures of that kind")
        // Some of the last group's pictures have not arrived.
        let steps = zip(shown, shown.dropFirst()).map { $1 - $0 }.dropLast(4)
        #expect(steps.allSatisfy { abs($0 - 0.04) < 0.001 }, "\(Array(steps))")
        #expect(await serve.end() == 0)
    }

    @Test("A camera on demand is opened for its first reader, and closed after the last, which is killed")
    func onDemand() async throws {
        let camera = try Self.camera()
        let (serve, place) = try await Self.daemon("  door: {source: \"\(camera.url)\", on-demand: 1s}\n")
        // The camera is opened once to learn its formats, and closed.
        let before = try await camera.teardowns()
        for round in 0..<2 {
            #expect(try await Self.packets(30, of: Self.url(place, "door")).count == 30)
            let reader = Process()
            reader.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            reader.arguments = [
                "ffmpeg", "-nostdin", "-v", "error", "-i", Self.url(place, "door"), "-f", "null", "-",
            ]
            try reader.run()
            let opened = try await serve.camera("door") { $0.captured > 1 }.openings
            try await Task.sleep(for: .seconds(2))
            #expect(reader.isRunning)
            kill(reader.processIdentifier, SIGKILL)
            reader.waitUntilExit()
            try await Waiting.until("the camera's end", progress: { try camera.report()["frames"]?.int }) {
                try camera.report()["requests"]?["teardown"]?.int ?? 0 > before + round
            }
            #expect(opened >= round + 1)
        }
        #expect(await serve.end() == 0)
    }

    @Test("Readers continue when the size changes; when the codec does, they are disconnected, and return")
    func changes() async throws {
        let camera = try Self.camera()
        let (serve, place) = try await Self.daemon("  door: \"\(camera.url)\"\n")
        _ = try await serve.camera("door") { $0.captured > 1 }
        #expect(try await serve.ask("PUT", "/v1/log-level", body: "{\"level\": \"info\"}").status == 200)
        let file = serve.folder.path("copy.h264")
        async let copied = ReferenceCommand.runAside(
            "timeout",
            [
                "120", "ffmpeg", "-nostdin", "-v", "fatal", "-y", "-rtsp_transport", "tcp", "-i",
                Self.url(place, "door"), "-c", "copy", "-f", "h264", file,
            ])
        // On a busy machine ffmpeg takes seconds to connect.
        try await Self.wait(for: 1, serve)
        let captured = try await serve.camera("door") { $0.captured > 1 }.captured
        let before = try await serve.camera("door") { $0.captured > captured + 40 }.captured
        try camera.change(size: ImageSize(width: 160, height: 120))
        try camera.killConnections()
        let after = try await serve.camera("door") { $0.captured > before + 60 }.captured
        try camera.change(codec: .h265)
        try camera.killConnections()
        // ffmpeg exits, because its connection is closed.
        _ = try? await copied
        let output = try await ReferenceCommand.runAside(
            "ffprobe", ["-v", "error", "-show_entries", "frame=width", "-of", "csv=p=0", file])
        let widths = Set(String(decoding: output, as: UTF8.self).split { !$0.isNumber })
        #expect(widths == ["320", "160"])
        _ = try await serve.camera("door") { $0.captured > after + 20 }
        let codec = try await ReferenceCommand.runAside(
            "ffprobe",
            ["-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0", Self.url(place, "door")])
        #expect(String(decoding: codec, as: UTF8.self).hasPrefix("hevc"))
        #expect(await serve.end() == 0)
    }

    /// Waits until the wanted number of readers is connected, by the log lines of their connections.
    private static func wait(for count: Int, _ serve: ServeProcess) async throws {
        func readers() -> Int {
            let log = serve.complaints
            return log.components(separatedBy: "An RTSP reader has connected.").count
                - log.components(separatedBy: "An RTSP reader has left.").count
        }
        let seen = try await ServeProcess.last(of: readers) { $0 == count }
        #expect(seen == count, "\(serve.complaints)")
    }

    @Test("Hostile clients and readers that do not read cost other readers nothing, and are disconnected")
    func hostile() async throws {
        let camera = try Self.camera()
        let (serve, place) = try await Self.daemon("  door: \"\(camera.url)\"\n")
        _ = try await serve.camera("door") { $0.captured > 1 }
        #expect(try await serve.ask("PUT", "/v1/log-level", body: "{\"level\": \"info\"}").status == 200)
        let stopped = Process()
        stopped.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        stopped.arguments = [
            "ffmpeg", "-nostdin", "-v", "error", "-rtsp_transport", "tcp", "-i", Self.url(place, "door"), "-f",
            "null", "-",
        ]
        try stopped.run()
        defer { kill(stopped.processIdentifier, SIGKILL) }
        try await Self.wait(for: 1, serve)
        try await Task.sleep(for: .seconds(1))
        kill(stopped.processIdentifier, SIGSTOP)
        async let attack = ReferenceCommand.runAside(
            "/usr/bin/python3",
            ["-B", PeerProcess.path("rtsp-hostile.py"), place, "door", "wall", ServeProcess.viewer])
        async let direct = Self.packets(500, of: camera.url)
        async let reader = Self.packets(400, of: Self.url(place, "door"))
        let (sent, seen) = try await (direct, reader)
        let known = seen.filter { sent.contains($0) }
        let begin = try #require(known.first)
        let start = try #require(sent.firstIndex(of: begin))
        let common = min(known.count, sent.count - start)
        #expect(common > 200)
        #expect(Array(known.prefix(common)) == Array(sent[start..<start + common]))
        let report = String(decoding: try await attack, as: UTF8.self)
        #expect(report.hasSuffix("all closed\n"), "\(report)")
        // The remaining reader that does not read is not counted either.
        try await Self.wait(for: 0, serve)
        #expect(stopped.isRunning)
        #expect(try await serve.camera("door") { _ in true }.openings == 1)
        #expect(await serve.end() == 0)
    }

    @Test("A daemon that ends while a reader waits for a silent camera disconnects it, and exits with 0")
    func waitingReader() async throws {
        let dead = try FreePort.find()
        let (serve, place) = try await Self.daemon("  door: rtsp://127.0.0.1:\(dead)/none\n")
        #expect(try await serve.ask("PUT", "/v1/log-level", body: "{\"level\": \"debug\"}").status == 200)
        async let left = Self.complaint(Self.url(place, "door"))
        let log = try await ServeProcess.last(of: { serve.complaints }) {
            $0.contains("An RTSP reader is waiting for a key frame.")
        }
        #expect(log.contains("An RTSP reader is waiting for a key frame."))
        #expect(await serve.end() == 0)
        #expect(serve.complaints.contains("was refused: The daemon is shutting down."), "\(serve.complaints)")
        _ = try await left
    }

    @Test("A daemon whose RTSP port is in use exits with 75 and reports it")
    func takenPort() async throws {
        let (serve, place) = try await Self.daemon("  drawn: pattern:smpte?size=64x64&fps=5\n", tokens: false)
        let other = serve.folder.path("other.yaml")
        let text = "server: {listen: '127.0.0.1:0', restream: '\(place)'}\ncameras: {a: 'pattern:'}\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: other))
        let output = try await ReferenceCommand.runAside(
            "sh", ["-c", "timeout 60 \"$0\" serve \"$1\" 2>&1; echo status $?", BuiltProgram.inlet, other])
        let said = String(decoding: output, as: UTF8.self)
        #expect(said.contains("the port is in use") && said.hasSuffix("status 75\n"), "\(said)")
        #expect(await serve.end() == 0)
    }
}
#endif

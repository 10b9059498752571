import Foundation
import Inlet
import InletServe
import InletTesting
import ReferenceTools
import Testing

/// Cameras whose sources run in separate processes: the effect of a crash, and the cleanup of a process.
@Suite(.tags(.daemon, .server), .serialized, .fewDaemons, .takes(atMostMinutes: 5)) struct OwnProcessTests {
    /// Runs sources in children of the command, as the command itself does.
    private static let makeProcess: CameraProcess.Maker = { request in
        let configuration = SourceProcessConfiguration(
            request.uri, redactedURI: request.redactedURI, name: request.camera, memoryLimit: request.memoryLimit,
            programPath: BuiltProgram.inlet)
        let figures = configuration.figures
        return CameraProcess(configuration: configuration) {
            CameraProcess.Figures(processID: figures.processID, starts: figures.starts)
        }
    }

    private static func own(
        _ name: String, _ source: String, memoryLimit: Int? = nil, sinks: [String] = []
    ) -> CameraSettings {
        var camera = CameraSettings(
            name: name, source: source, sinks: sinks.map { SinkSettings(uri: $0, queue: .lossless()) })
        camera.policies.process = .own(memoryLimit: memoryLimit)
        return camera
    }

    private static func status(
        _ name: String, of cameraSet: CameraSet, until isReached: (CameraStatus) -> Bool
    ) async throws -> CameraStatus {
        for _ in 0..<6000 {
            if let status = await cameraSet.camera(name)?.status, isReached(status) { return status }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw ServeProcess.Failure(description: "\(name) did not come so far.")
    }

    /// The start time of a process in clock ticks since the boot, which distinguishes it from a later one with its
    /// number; nil if there is no such process.
    private static func startTime(_ number: Int32) -> String? {
        guard let text = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8) else { return nil }
        // The name in brackets before the fields may contain blanks: proc_pid_stat(5), field 22.
        return text.split(separator: ")").last?.split(separator: " ").dropFirst(19).first.map { String($0) }
    }

    @Test("A killed process causes its camera an outage, which ends without help, and loses no frame of others")
    func crash() async throws {
        let recorders = Recorders()
        let cameraSet = CameraSet(
            registry: recorders.registry, spread: .zero, logger: silent, makeProcess: Self.makeProcess)
        let cameras = [
            "steady": CameraSettings(
                name: "steady", source: "count:a", sinks: [SinkSettings(uri: "record:steady", queue: .lossless())]),
            "door": Self.own("door", "pattern:timecode?size=320x180&fps=50", sinks: ["record:door"]),
        ]
        var events = cameraSet.events.makeAsyncIterator()
        await cameraSet.apply(cameras, version: 1)
        await recorders["door"].frames(atLeast: 5)
        await recorders["steady"].frames(atLeast: 5)
        let before = try #require(await cameraSet.camera("door")?.status)
        let child = try #require(before.process?.processID)
        let childStart = try #require(Self.startTime(child))
        #expect(before.process?.starts == 1)
        // systemd signals all processes of a service in this way: the daemon decides when a child ends.
        for number in [SIGTERM, SIGINT] { kill(child, number) }
        await recorders["door"].frames(atLeast: recorders["door"].frames.count + 5)
        #expect(await cameraSet.camera("door")?.status.process == before.process)
        kill(child, SIGKILL)
        var told: CameraSetEvent?
        while told == nil, let event = await events.next() { if event.kind == "failed" { told = event } }
        #expect(told?.camera == "door")
        #expect(told?.text.contains("was ended by SIGKILL") == true, "\(told?.text ?? "")")
        let after = try await Self.status("door", of: cameraSet) {
            $0.phase == .live && $0.statistics?.supervision.openings ?? 0 >= 2
        }
        #expect(after.process?.starts ?? 0 >= 2 && after.process?.processID != child)
        let successor = try #require(after.process?.processID)
        let successorStart = Self.startTime(successor)
        await recorders["door"].frames(atLeast: recorders["door"].frames.count + 5)
        await recorders["steady"].frames(atLeast: recorders["steady"].frames.count + 5)
        let steady = try #require(await cameraSet.camera("steady")?.status.statistics)
        #expect(steady.supervision.openings == 1 && steady.sinks.first?.drops == [:])
        await cameraSet.stop()
        let sequences = recorders["steady"].frames.map(\.sequence)
        #expect(sequences == Array(0..<UInt64(sequences.count)))
        // Neither of them is left, not even as an entry in the process table.
        for (number, time) in [(child, childStart), (successor, successorStart)] {
            #expect(Self.startTime(number) == nil || Self.startTime(number) != time)
        }
    }

    @Test("A process over its memory limit is ended and restarted, and the cause is reported")
    func memory() async throws {
        let cameraSet = CameraSet(
            registry: Recorders().registry, spread: .zero, logger: silent, makeProcess: Self.makeProcess)
        var events = cameraSet.events.makeAsyncIterator()
        await cameraSet.apply(
            ["big": Self.own("big", "pattern:timecode?size=3840x2160&fps=20", memoryLimit: 12_000_000)], version: 1)
        var told: CameraSetEvent?
        while told == nil, let event = await events.next() { if event.kind == "failed" { told = event } }
        #expect(told?.text.contains("used more memory than its limit") == true, "\(told?.text ?? "")")
        #expect(told?.text.contains("of 12 MB") == true, "\(told?.text ?? "")")
        _ = try await Self.status("big", of: cameraSet) { $0.process?.starts ?? 0 > 1 }
        await cameraSet.stop()
    }

    @Test("A host that cannot be resolved is reported as such, so that it is tried again", .takes(atMostMinutes: 1))
    func codes() async throws {
        let uri = "rtsp://no-such-host.invalid/stream?connect-timeout=30s"
        let source = SourceProcessConfiguration(uri, redactedURI: uri, name: "door", programPath: BuiltProgram.inlet)
        var configuration = CapturerConfiguration()
        configuration.retry = .attempts(0)
        let capturer = Capturer(source, configuration: configuration)
        let error = await #expect(throws: InletError.self) { try await capturer.run() }
        #expect(error?.code == .hostNotFound, "\(error.map { "\($0)" } ?? "")")
    }

    @Test("A file's pictures and packets that pass through a process match ffmpeg's")
    func content() async throws {
        let clip = try TestClips.path("h264-b.mp4")
        let folder = try TemporaryFolder()
        let (sums, copy) = (folder.path("a.md5"), folder.path("a.mp4"))
        let source = SourceProcessConfiguration(
            clip, redactedURI: clip, name: "clip", programPath: BuiltProgram.inlet)
        let capturer = Capturer(source, configuration: CapturerConfiguration())
        capturer.attach(try PluginRegistry.standard.sink("framemd5:\(sums)"))
        capturer.attach(try PluginRegistry.standard.sink("mp4:\(copy)?codec=copy"))
        try await capturer.run()
        let pictures = try await ReferenceCommand.runAside(
            "ffmpeg", ["-v", "error", "-i", clip, "-pix_fmt", "yuv420p", "-f", "framemd5", "-"])
        let ours = FrameSums.sums(of: try String(contentsOfFile: sums, encoding: .utf8))
        #expect(!ours.isEmpty && ours == FrameSums.sums(of: pictures))
        var packets: [[String]] = []
        for file in [clip, copy] {
            let text = try await ReferenceCommand.runAside(
                "ffmpeg", ["-v", "error", "-i", file, "-map", "0:v", "-c", "copy", "-f", "framemd5", "-"])
            packets.append(FrameSums.sums(of: text))
        }
        #expect(!packets[0].isEmpty && packets[0] == packets[1])
    }

    @Test("A camera's packets are recorded on request through a process, as the camera sent them")
    func recording() async throws {
        let camera = try RTSPServer(
            RTSPServer.Options(size: ImageSize(width: 160, height: 120), frameRate: Rational(20), keyFrameInterval: 10))
        let folder = try TemporaryFolder()
        let serve = try await ServeProcess(
            """
            defaults:
              process: own
              record: {folder: "\(folder.path("r"))", before: 1s}
            cameras:
              door: "\(camera.url)"

            """)
        _ = try await serve.camera("door") { $0.captured > 40 && $0.process?.id != nil }
        #expect(try await serve.ask("GET", "/v1/cameras/door/snapshot.jpg").status == 200)
        #expect(try await serve.ask("POST", "/v1/cameras/door/record", body: "{\"seconds\": 1}").status == 202)
        func files() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder.path("r/door")).sorted()
        }
        _ = try await ServeProcess.last {
            String(decoding: try await serve.ask("GET", "/v1/cameras/door/recordings").body, as: UTF8.self)
        } until: {
            $0.contains("\"complete\"")
        }
        let file = try #require(try files().first { $0.hasSuffix(".mp4") })
        let facts = try await ReferenceCommand.runAside(
            "ffprobe",
            [
                "-v", "error", "-count_frames", "-show_entries", "stream=codec_name,width,height,nb_read_frames", "-of",
                "csv=p=0", folder.path("r/door/\(file)"),
            ])
        let parts = String(decoding: facts, as: UTF8.self).trimmingCharacters(in: .newlines).split(separator: ",")
        #expect(parts.prefix(3) == ["h264", "160", "120"], "\(parts)")
        #expect((Int(parts.last ?? "") ?? 0) > 20, "\(parts)")
        #expect(await serve.end() == 0)
    }

    @Test("A source is tried in a process, too, if the defaults request it")
    func tryOut() async throws {
        let server = try HostileServer(.blackHole)
        let serve = try await ServeProcess(
            "defaults: {process: own, memory: 1M}\n"
                + "cameras: {door: {source: 'pattern:timecode?size=64x64&fps=10', process: shared}}\n")
        // The trial waits for an answer until its process is checked, which no process with this limit survives.
        let (status, body) = try await serve.ask(
            "POST", "/v1/try", body: #"{"source": "rtsp://127.0.0.1:\#(server.port)/a"}"#)
        let told = String(decoding: body, as: UTF8.self)
        #expect(status == 409 && told.contains("used more memory than its limit"), "\(status) \(told)")
        server.stop()
        #expect(await serve.end() == 0)
    }

    @Test("Twenty kills leave no descriptor or zombie, and neither SIGTERM nor SIGKILL of the daemon leaves a child")
    func leftovers() async throws {
        let serve = try await ServeProcess(
            """
            cameras:
              steady: pattern:timecode?size=64x64&fps=10
              door: {source: "pattern:timecode?size=64x64&fps=50", process: own, memory: 1G}

            """)
        let daemon = serve.process.processIdentifier
        func children() -> [Int32] {
            let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon)/task")) ?? []
            return threads.flatMap { thread in
                let text = try? String(contentsOfFile: "/proc/\(daemon)/task/\(thread)/children", encoding: .utf8)
                return (text ?? "").split(separator: " ").compactMap { Int32($0) }
            }
        }
        /// The child, once it fills shared memory.
        func working(besides earlier: Int32 = 0) async throws -> Int32 {
            var found: Int32?
            try await Waiting.until("a child", progress: { children() }) {
                found = children().first { child in
                    let maps = try? String(contentsOfFile: "/proc/\(child)/maps", encoding: .utf8)
                    return child != earlier && maps?.contains("inlet-plugin") == true
                }
                return found != nil
            }
            return try #require(found)
        }
        func descriptors() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon)/fd").count
        }
        var child = try await working()
        _ = try await serve.camera("door") { $0.state == "live" && $0.process?.id == child }
        let before = try descriptors()
        for _ in 0..<20 {
            kill(child, SIGKILL)
            // Sooner than by the retry policy, whose waits grow.
            #expect(try await serve.ask("POST", "/v1/cameras/door/restart").status == 204)
            child = try await working(besides: child)
        }
        let door = try await serve.camera("door") { $0.state == "live" }
        #expect(door.process?.id == child && (door.process?.restarts ?? 0) >= 20)
        #expect(door.process?.memoryLimit == 1_000_000_000)
        try await Waiting.until("the descriptors of before", progress: descriptors) { try descriptors() <= before }
        #expect(children() == [child])
        let steady = try await serve.camera("steady") { _ in true }
        #expect(steady.openings == 1 && steady.process == nil)
        let time = try #require(Self.startTime(child))
        #expect(await serve.end() == 0)
        #expect(Self.startTime(child) != time)

        try await serve.launch()
        let (status, body) = try await serve.ask("GET", "/v1/cameras/door")
        #expect(status == 200, "\(String(decoding: body, as: UTF8.self))")
        let last = try #require(try await serve.camera("door") { $0.state == "live" }.process?.id)
        let lastTime = try #require(Self.startTime(last))
        _ = await serve.end(SIGKILL)
        // The system decides which process reaps it: it is a zombie at most.
        func state() -> String {
            guard Self.startTime(last) == lastTime else { return "gone" }
            let text = (try? String(contentsOfFile: "/proc/\(last)/stat", encoding: .utf8)) ?? ""
            return text.split(separator: " ").dropFirst(2).first.map { String($0) } ?? "gone"
        }
        try await Waiting.until("the end of the child", progress: state) { ["gone", "Z", "X"].contains(state()) }
    }
}

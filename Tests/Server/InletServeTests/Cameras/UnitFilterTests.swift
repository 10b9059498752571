#if GStreamer
import Foundation
import InletCore
import ReferenceTools
import Testing

/// The daemon under the restrictions of `Packaging/inlet-serve.service`: system calls, capabilities, kernel files.
@Suite(
    .tags(.rtcPeer, .daemon, .server), .serialized, .timeLimit(.minutes(6)),
    .enabled(if: geteuid() == 0, "only root gives up capabilities"),
    .enabled(
        if: PeerProcess.missing(programs: ["systemd-analyze"]) == nil,
        "systemd is not installed; Scripts/bootstrap --test installs it"))
struct UnitFilterTests {
    private static let unit = BuiltProgram.package.appendingPathComponent("Packaging/inlet-serve.service").path
    private static let script = PeerProcess.path("unit-filter.py")

    private static func daemon(_ text: String, environment: [String: String] = [:]) async throws -> ServeProcess {
        let serve = try await ServeProcess(
            text, environment: environment, wrapper: ["/usr/bin/python3", "-B", script, unit])
        let status = try String(
            contentsOfFile: "/proc/\(serve.process.processIdentifier)/status", encoding: .utf8)
        // The script dropped all rights and then became the daemon.
        #expect(status.contains("Name:\tinlet\n") && status.contains("CapBnd:\t0000000000000000\n"))
        #expect(status.contains("Seccomp:\t2\n") && status.contains("NoNewPrivs:\t1\n"))
        return serve
    }

    private static func endsWell(_ serve: ServeProcess) async {
        #expect(serve.process.isRunning, "\(serve.complaints)")
        #expect(await serve.end() == 0, "\(serve.complaints)")
        #expect(serve.process.terminationReason == .exit)
    }

    /// ffprobe's description of a file's video.
    private static func stream(of file: String, _ entries: String) async throws -> [Substring] {
        let output = try await ReferenceCommand.runAside(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "v", "-count_frames", "-show_entries", "stream=\(entries)", "-of",
                "csv=p=0", file,
            ])
        return String(decoding: output, as: UTF8.self).split { $0 == "," || $0.isNewline }
    }

    @Test("An RTSP camera is distributed by RTSP")
    func restream() async throws {
        let camera = try RTSPServer(
            RTSPServer.Options(
                size: ImageSize(width: 320, height: 240), frameRate: Rational(20), keyFrameInterval: 20))
        let port = try FreePort.find()
        let serve = try await Self.daemon("  restream: 127.0.0.1:\(port)\ncameras:\n  door: \"\(camera.url)\"\n")
        _ = try await serve.camera("door") { $0.captured > 1 }
        for transport in ["tcp", "udp"] {
            let sums = try await ReferenceCommand.runAside(
                "timeout",
                [
                    "60", "ffmpeg", "-nostdin", "-v", "error", "-rtsp_transport", transport, "-i",
                    "rtsp://wall:\(ServeProcess.viewer)@127.0.0.1:\(port)/door", "-frames:v", "20", "-f",
                    "framemd5", "-",
                ])
            #expect(FrameLines(sums).lines.count == 20, "\(transport)")
        }
        await Self.endsWell(serve)
    }

    @Test(
        "Viewers by WebRTC read every number, of a camera in the daemon and of one in a separate process",
        .enabled(if: WHEPTests.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
    func viewers() async throws {
        let serve = try await Self.daemon(
            """
            cameras:
              door: \(WHEPTests.pattern)
              yard: {source: "\(WHEPTests.pattern)", process: own, memory: 512M}

            """)
        for camera in ["door", "yard"] {
            _ = try await serve.camera(camera) { $0.captured > 1 }
            let seen = try await WHEPTests.view(camera, serve, ["--frames", "40"])
            #expect((seen.status, seen.count, seen.unread) == (201, 40, 0), "\(seen) \(serve.complaints)")
        }
        await Self.endsWell(serve)
    }

    @Test("A plug-in runs in its sandbox, and a program gets its pictures")
    func plugins() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path(""))
        let sample = BuiltProgram.package.appendingPathComponent("Samples/CSource").path
        let include = BuiltProgram.package.appendingPathComponent("Sources/C/CInletPlugin/include").path
        try ReferenceCommand.run(
            "cc",
            [
                "-std=c11", "-O2", "-I\(include)", "-fPIC", "-fvisibility=hidden", "-shared", "-o",
                folder.path("bars.so"), "\(sample)/bars.c",
            ])
        try ReferenceCommand.run("install", ["-m", "644", "\(sample)/bars.inlet.json", folder.path("")])
        let serve = try await Self.daemon(
            """
            cameras:
              bars:
                source: bars:?size=64x48&rate=20
                sinks: ["exec:ffmpeg -v error -y -i - taken.mkv"]

            """, environment: ["INLET_PLUGIN_PATH": folder.path(""), "XDG_CACHE_HOME": folder.path("cache")])
        #expect(try await serve.camera("bars") { $0.captured > 40 }.openings == 1, "\(serve.complaints)")
        await Self.endsWell(serve)
        let taken = try await Self.stream(of: serve.folder.path("taken.mkv"), "nb_read_frames")
        #expect(taken.last.flatMap { Int($0) } ?? 0 > 20, "\(taken) \(serve.complaints)")
    }

    @Test("Recordings are encoded", arguments: [("h264", "h264"), ("hevc", "hevc"), ("av1", "av1")])
    func recordings(codec: String, name: String) async throws {
        let serve = try await Self.daemon(
            """
            cameras:
              door:
                source: pattern:smpte?size=320x180&fps=20
                sinks: ["mp4:{camera}-{n}.mp4?codec=\(codec)&segment=60s&keep-age=1h"]

            """)
        _ = try await serve.camera("door") { $0.captured > 40 }
        await Self.endsWell(serve)
        let file = serve.folder.path("door-000001.mp4")
        let found = try await Self.stream(of: file, "codec_name,nb_read_frames")
        #expect(found.first.map(String.init) == name)
        #expect(found.last.flatMap { Int($0) } ?? 0 > 20, "\(found) \(serve.complaints)")
        // Files keep their age after a step of the clock as well: the kernel's boot ID is stored with them.
        let script = "import os, sys; print(os.getxattr(sys.argv[1], 'user.inlet.recorded').decode())"
        guard let mark = try? await ReferenceCommand.runAside("/usr/bin/python3", ["-c", script, file]) else {
            return  // The file system of the temporary folder has no such attributes.
        }
        let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        #expect(String(decoding: mark, as: UTF8.self).contains(boot.split(separator: "\n")[0]))
    }
}
#endif

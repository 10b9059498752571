import Foundation
import Glibc
import InletCapture
import InletCore
import InletTesting
import PatternSource
import PipeSink
import ReferenceTools
import Testing

/// Programs that receive pictures, well-behaved and misbehaving ones.
@Suite(.tags(.encoder), .blocking) struct ExecSinkTests {
    static let size = ImageSize(width: 98, height: 63)

    private func format(_ size: ImageSize = size) -> VideoFormat {
        VideoFormat(
            size: size, timeBase: Rational(1, 25), frameRate: Rational(25), colorSpace: .bt709,
            sampleAspectRatio: Rational(1))
    }

    /// Writes pictures as a delivery thread does, and finishes even after an error.
    private func write(_ pictures: [I420Buffer], to configuration: ExecSinkConfiguration) throws {
        let sink = configuration.makeSink()
        let size = pictures.first?.size ?? Self.size
        try sink.start(format(size), SinkContext())
        do {
            for (index, picture) in pictures.enumerated() {
                try sink.consume(
                    VideoFrame(
                        buffer: picture, timestamp: MonotonicTime(nanoseconds: Int64(index) * 40_000_000),
                        sequence: UInt64(index)))
            }
        } catch {
            try sink.finish()
            throw error
        }
        try sink.finish()
    }

    private func gray(_ count: Int, _ size: ImageSize = size) throws -> [I420Buffer] {
        var draft = try I420Draft(size: size)
        draft.fill(y: 99, u: 128, v: 128)
        return Array(repeating: draft.publish(), count: count)
    }

    private func error(_ words: [String], _ count: Int = 400, timeout: Duration = .seconds(20)) throws -> InletError? {
        #expect(throws: InletError.self) {
            try write(gray(count), to: ExecSinkConfiguration(.program(words), timeout: timeout))
        }
    }

    @Test("exec keeps the contract of sinks")
    func conformance() async throws {
        let folder = try TemporaryFolder()
        var conformance = SinkConformance()
        conformance.unusable = ExecSinkConfiguration(.program(["inlet-has-no-such-program"]))
        let violations = await conformance.check {
            ExecSinkConfiguration(.program(["dd", "of=\(folder.path(UUID().uuidString))", "status=none"]))
        }
        #expect(violations == [])
    }

    @Test(
        "A program reads the pictures that FFmpeg reads from the original", arguments: [true, false], ["y4m", "i420"])
    func pictures(padded: Bool, format: String) throws {
        let folder = try TemporaryFolder()
        let reference = try ReferencePictures(
            lavfi: "testsrc2=size=98x64:rate=25,crop=98:63:0:0:exact=1", size: Self.size, frames: 9)
        let pictures = try (0..<reference.count).map { try padded ? reference.padded($0) : reference.packed($0) }
        let raw = folder.path("raw.yuv")
        try reference.bytes.write(to: URL(fileURLWithPath: raw))
        let input = ["-f", "rawvideo", "-video_size", "{size}", "-framerate", "{rate}"]
        let words =
            ["ffmpeg", "-y", "-loglevel", "error"] + (format == "i420" ? input : [])
            + ["-i", "-", "-vf", "setsar=1", "-f", "framemd5", folder.path("ours")]
        try write(
            pictures,
            to: ExecSinkConfiguration(
                .program(words), format: #require(ExecSinkConfiguration.Format(rawValue: format)), finish: .seconds(60))
        )
        let theirs = try ReferenceCommand.ffmpeg([
            "-f", "rawvideo", "-video_size", "\(Self.size)", "-framerate", "25/1", "-i", raw, "-vf", "setsar=1", "-f",
            "framemd5", "-",
        ])
        #expect(reference.count == 9)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("ours"))) == theirs)
    }

    @Test("A missing or invalid program is a typed error with advice")
    func missing() throws {
        let missing = try error(["inlet-has-no-such-program", "--password", "hunter2"])
        #expect(missing?.code == .notFound)
        #expect(missing?.message.contains("on PATH") == true)
        #expect(missing?.context.nativeCode == ENOENT)
        #expect(missing?.description.contains("hunter2") == false)

        let folder = try TemporaryFolder()
        let script = folder.path("script")
        try Data("neither a program nor a script".utf8).write(to: URL(fileURLWithPath: script))
        #expect(try error([script])?.code == .permissionDenied)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
        #expect(try error([script])?.code == .invalidConfiguration)
        #expect(try error([folder.path("gone/script")])?.code == .notFound)
    }

    @Test("A command reaches no shell unless one is requested")
    func noShell() throws {
        let folder = try TemporaryFolder()
        let words = ["dd", "of=\(folder.path("a;b $(c) *"))", "status=none"]
        try write(gray(1), to: ExecSinkConfiguration(.program(words)))
        #expect(FileManager.default.fileExists(atPath: folder.path("a;b $(c) *")))
        try write(gray(1), to: ExecSinkConfiguration(.shell("cat > \(folder.path("x"))$((1 + 2))")))
        #expect(FileManager.default.fileExists(atPath: folder.path("x3")))
    }

    @Test("The child has three descriptors, though others here are open without close-on-exec")
    func descriptors() throws {
        let folder = try TemporaryFolder()
        let leaky = unsafe open(folder.path("leaky"), O_CREAT | O_RDWR, 0o600)
        defer { close(leaky) }
        let list = folder.path("list")
        // The shell itself opens the file and the listed folder; these descriptors are not inherited.
        try write(gray(1), to: ExecSinkConfiguration(.shell("ls /proc/$$/fd > \(list); cat > /dev/null")))
        let names = try String(contentsOfFile: list, encoding: .utf8).split(separator: "\n")
        #expect(Set(["0", "1", "2"]).isSubset(of: names))
        #expect(!names.contains("\(leaky)"), "\(names)")
    }

    @Test("The child has default signal handling, even if this process ignores signals")
    func signals() throws {
        let folder = try TemporaryFolder()
        let list = folder.path("list")
        try write(
            gray(1),
            to: ExecSinkConfiguration(
                .shell("grep -E 'SigBlk|SigIgn' /proc/self/status > \(list); cat > /dev/null")))
        let masks = try String(contentsOfFile: list, encoding: .utf8).split(separator: "\n").map { line in
            // Signals 32 and 33 belong to the C library and cannot be set.
            UInt64(line.suffix(16), radix: 16).map { $0 & ~0x1_8000_0000 }
        }
        #expect(masks == [0, 0])
    }

    @Test("A program that stops reading with exit code 0 stops the sink without an error")
    func enough() throws {
        #expect(throws: SinkStopped.self) {
            try write(gray(400), to: ExecSinkConfiguration(.shell("head -c 20000 > /dev/null")))
        }
    }

    @Test("A failed program is an error with its exit status and last output, without credentials")
    func failure() throws {
        let script = "head -c 20000 >/dev/null; echo first >&2; echo rtmp://me:hunter2@host is down >&2; exit 3"
        let error = try error(["sh", "-c", script])
        #expect(error?.code == .disconnected)
        #expect(error?.message.contains("exit status 3") == true)
        #expect(error?.message.contains("first / rtmp://***@host is down") == true)
        #expect(try self.error(["sh", "-c", "kill -9 $$"])?.message.contains("signal 9") == true)
        // Also if it fails only after everything is written.
        #expect(try self.error(["sh", "-c", "cat >/dev/null; exit 4"], 1)?.message.contains("exit status 4") == true)
    }

    @Test(
        "If a command with shell syntax fails, the error mentions shell=true",
        arguments: [">", "2>&1", "|", "a;", "&&", "</dev/null"])
    func shellAdvice(_ sign: String) throws {
        let error = try error(["sh", "-c", "cat >/dev/null; exit 1", sign, "x"], 1)
        #expect(error?.message.hasSuffix(" Shell syntax, such as \(sign), needs shell=true.") == true)
        #expect(try self.error(["sh", "-c", "exit 1", "a|b"], 1)?.message.contains("shell=true") == false)
    }

    @Test("A program that does not read is an error at the time limit, and is ended")
    func stuck() throws {
        let folder = try TemporaryFolder()
        let pid = folder.path("pid")
        let error = try error(
            ["sh", "-c", "echo $$ > \(pid); trap '' TERM; while :; do sleep 0.1; done"], timeout: .seconds(2))
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("timeout=") == true)
        let text = try String(contentsOfFile: pid, encoding: .utf8)
        let number = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(kill(number, 0) == -1)
        #expect(errno == ESRCH)
    }

    @Test("A program that continues after the end of its input is ended, which is an error")
    func endless() throws {
        let error = #expect(throws: InletError.self) {
            try write(
                gray(1),
                to: ExecSinkConfiguration(
                    .program(["sh", "-c", "cat >/dev/null; while :; do sleep 0.1; done"]), finish: .milliseconds(100)))
        }
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("finish=") == true)
    }

    @Test("Endless error output neither blocks the program nor uses memory")
    func flood() throws {
        let folder = try TemporaryFolder()
        let copy = folder.path("copy")
        let script = "head -c 1000000 /dev/zero | tr '\\0' 'x' >&2; cat > \(copy)"
        try write(
            gray(20), to: ExecSinkConfiguration(.program(["sh", "-c", script]), format: .i420, finish: .seconds(60)))
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(attributes[.size] as? Int == 20 * Self.size.packedI420ByteCount)
    }

    @Test("A failed program is restarted by the restart policy, and receives complete streams")
    func restart() async throws {
        let folder = try TemporaryFolder()
        let script = "n=$(ls \(folder.path("")) | wc -l); head -c 30000 > \(folder.path(""))/run$n; exit 1"
        let capturer = Capturer(
            PatternConfiguration(.ball, size: Self.size, frameRate: Rational(100), frames: 0),
            configuration: CapturerConfiguration())
        var delay = RestartDelay()
        delay.first = .milliseconds(20)
        delay.longest = .milliseconds(20)
        let sink = ExecSinkConfiguration(.program(["sh", "-c", script]))
        capturer.attach(sink, onFailure: .restart(after: delay))
        let events = capturer.events
        async let outcome = capturer.run()
        var restarts = 0
        for await event in events {
            if case .sinkRestarting(_, _, let error, _, _) = event {
                #expect(error.message.contains("exit status 1"))
                restarts += 1
                if restarts == 3 { capturer.stop() }
            }
        }
        _ = try await outcome
        let runs = try FileManager.default.contentsOfDirectory(atPath: folder.path(""))
        #expect(runs.count >= 3)
        for run in runs.sorted().prefix(3) {
            let start = try Data(contentsOf: URL(fileURLWithPath: folder.path(run))).prefix(9)
            #expect(String(decoding: start, as: UTF8.self) == "YUV4MPEG2")
        }
    }
}

import Foundation
import ReferenceTools
import Testing

/// Recordings of the built program, as other programs read them, after any end of the program and on a full disk.
@Suite(.tags(.encoder), .serialized, .blocking) struct RecordingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func frames(_ path: String) throws -> Int {
        let output = try ReferenceCommand.run(
            "ffprobe",
            [
                "-v", "error", "-count_frames", "-select_streams", "v:0", "-show_entries", "stream=nb_read_frames",
                "-of",
                "csv=p=0", path,
            ])
        return String(decoding: output, as: UTF8.self).split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0
    }

    /// Starts a recording of 30 pictures a second next to a list of them, waits for a number of pictures, and ends the
    /// recording by a signal. Neither sink gets ahead of the other.
    ///
    /// - Parameter later: microseconds for which the recording continues after those pictures.
    /// - Returns: the number of pictures in the list, and the number in the recording.
    private func record(
        _ sink: String, to path: String, until count: Int, later: UInt32 = 0, signal: Int32
    ) throws -> (listed: Int, recorded: Int, status: Int32) {
        let list = folder.path("list-\(UUID().uuidString)")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: InletProcess.path)
        process.arguments = [
            "run", "pattern:ball?size=320x240&fps=30", "--queue", "lossless:1", "--to", sink, "--to",
            "framemd5:\(list)",
            "--report", "none",
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
        func listed() -> Int {
            (try? Data(contentsOf: URL(fileURLWithPath: list))).map { FrameLines($0).lines.count } ?? 0
        }
        let end = ContinuousClock.now + .seconds(60)
        while listed() < count {
            guard process.isRunning, ContinuousClock.now < end else { throw NeverCame() }
            usleep(2000)
        }
        usleep(later)
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        return (listed(), try frames(path), process.terminationStatus)
    }

    private struct NeverCame: Error {}

    @Test(
        "A recording that is killed at any moment plays, and lacks less than a second",
        arguments: [
            "mp4", "mkv", "ts", "mp4?preset=balanced", "mp4?preset=archive",
        ])
    func killed(_ kind: String) async throws {
        let parts = kind.split(separator: "?")
        for round in 0..<2 {
            try await withThrowingTaskGroup { group in
                for number in 0..<3 {
                    let path = folder.path("out-\(round)-\(number).\(parts[0])")
                    let sink = "\(parts[0]):\(path)" + (parts.count > 1 ? "?\(parts[1])" : "")
                    group.addTask {
                        try await aside {
                            try record(
                                sink, to: path, until: .random(in: 32...90), later: .random(in: 0..<33_000),
                                signal: SIGKILL)
                        }
                    }
                }
                for try await (listed, recorded, _) in group {
                    #expect(recorded > 0)
                    #expect(listed - recorded <= 30, "\(listed) pictures, \(recorded) recorded")
                }
            }
        }
    }

    /// Runs the blocking waits for processes on a separate thread.
    private func aside<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
        }
    }

    @Test("A stopped recording is complete", arguments: [SIGINT, SIGTERM])
    func stopped(_ signal: Int32) throws {
        let path = folder.path("out.mp4")
        let (listed, recorded, status) = try record("mp4:\(path)", to: path, until: 40, signal: signal)
        #expect(status == 130)
        // The two sinks may differ by one picture at the end.
        #expect(abs(listed - recorded) <= 2, "\(listed) pictures, \(recorded) recorded")
    }

    /// A separate small file system; nil if the tests may not mount one.
    private static let canMount: Bool = {
        guard let folder = try? TemporaryFolder() else { return false }
        let path = folder.path("")
        guard (try? ReferenceCommand.run("mount", ["-t", "tmpfs", "-o", "size=1m", "none", path])) != nil else {
            return false
        }
        return (try? ReferenceCommand.run("umount", [path])) != nil
    }()

    private func withSmallDisk(_ size: String, _ body: (String) throws -> Void) throws {
        let disk = folder.path("disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        _ = try ReferenceCommand.run("mount", ["-t", "tmpfs", "-o", "size=\(size)", "none", disk])
        defer { _ = try? ReferenceCommand.run("umount", ["-l", disk]) }
        try body(disk)
    }

    @Test(
        "A full disk ends the sink with a clear error, and the recording so far plays",
        .enabled("mounting a tmpfs takes root") { canMount })
    func fullDisk() throws {
        try withSmallDisk("1m") { disk in
            let inlet = try InletProcess.run([
                "run", "pattern:noise?size=320x240&fps=30&pace=none&frames=300", "--to",
                "mp4:\(disk)/out.mp4?bitrate=8M",
                "--to", "null:", "--report", "json",
            ])
            #expect(inlet.status == 75 || inlet.status == 74, "\(inlet.status)")
            #expect(inlet.complaints.contains("disk is full"), "\(inlet.complaints)")
            #expect(try frames("\(disk)/out.mp4") > 10)
            // The other sink received every frame.
            #expect(inlet.complaints.contains("\"captured\" : 300") || inlet.complaints.contains("\"captured\":300"))
        }
    }

    @Test(
        "A disk that is full at the end of a file is an error, too",
        .enabled("mounting a tmpfs takes root") { canMount }, arguments: [6, 8])
    func fullDiskAtEnd(_ count: Int) throws {
        // Fewer than eight pictures are recorded. Their fragment is written in one piece at the end of the file.
        try withSmallDisk("100k") { disk in
            let inlet = try InletProcess.run([
                "run", "pattern:noise?size=320x240&fps=30&pace=none&frames=\(count)", "--to",
                "mp4:\(disk)/out.mp4?bitrate=8M", "--to", "null:",
            ])
            #expect(inlet.status == 74, "\(inlet.status)")
            #expect(inlet.complaints.contains("disk is full"), "\(inlet.complaints)")
        }
    }

    @Test(
        "A full disk leaves no file without a picture, however often the sink is retried",
        .enabled("mounting a tmpfs takes root") { canMount },
        arguments: ["mp4:a-{n}.mp4", "mp4:a.mp4", "mkv:a-{utc}.mkv", "ts:a.ts", "webm:a-{n}.webm"])
    func fullDiskWithRetries(_ sink: String) throws {
        try withSmallDisk("1m") { disk in
            let parts = sink.split(separator: ":")
            let inlet = try InletProcess.run([
                "run", "pattern:noise?size=320x240&fps=30", "--duration", "6", "--to",
                "\(parts[0]):\(disk)/\(parts[1])?bitrate=8M", "--to", "null:", "--sink-retry", "forever", "--report",
                "json",
            ])
            #expect(inlet.complaints.contains("disk is full"), "\(inlet.complaints)")
            let names = try FileManager.default.contentsOfDirectory(atPath: disk)
            #expect(names.count == 1, "\(names)")
            for name in names { #expect(try frames("\(disk)/\(name)") > 10, "\(name)") }
        }
    }

    @Test(
        "Recording continues on a full disk if older files may be deleted",
        .enabled("mounting a tmpfs takes root") { canMount })
    func fullDiskWithRetention() throws {
        try withSmallDisk("8m") { disk in
            let inlet = try InletProcess.run([
                "run", "pattern:noise?size=320x240&fps=30&pace=none&frames=600", "--to",
                "mp4:\(disk)/a-{n}.mp4?bitrate=8M&segment-size=1M&keep-size=100M", "--to", "null:", "--report", "json",
            ])
            #expect(inlet.status == 0, "\(inlet.complaints)")
            #expect(inlet.complaints.contains("Older files were deleted to continue"), "\(inlet.complaints)")
            let names = try FileManager.default.contentsOfDirectory(atPath: disk).sorted()
            // No more files were deleted than necessary.
            #expect(!names.contains("a-000001.mp4") && names.count >= 6, "\(names)")
            let counts = try names.map { try frames("\(disk)/\($0)") }
            #expect(counts.allSatisfy { $0 > 0 } && counts.reduce(0, +) >= 120, "\(names) \(counts)")
            // The other sink received every frame.
            #expect(inlet.complaints.contains("\"captured\" : 600") || inlet.complaints.contains("\"captured\":600"))
        }
    }

    @Test(
        "Packets of a file are copied unchanged next to a sink that decodes",
        arguments: [
            "h264-b.mp4", "hevc-10bit.mp4",
        ])
    func copy(_ clip: String) throws {
        let source = try TestClips.path(clip)
        for beside in [[], ["--to", "framemd5:\(folder.path("md5"))"]] {
            let path = folder.path("copy.mp4")
            let inlet = try InletProcess.run(
                ["run", source, "--to", "mp4:\(path)?codec=copy", "--report", "json"] + beside)
            #expect(inlet.status == 0, "\(inlet.complaints)")
            let expected = try FrameLines.ffmpeg(source).lines
            let copied = try FrameLines.ffmpeg(path).lines
            #expect(copied.map(\.md5) == expected.map(\.md5))
            if !beside.isEmpty {
                let decoded = FrameLines(try Data(contentsOf: URL(fileURLWithPath: folder.path("md5"))))
                #expect(decoded.lines.count == expected.count)
            }
        }
    }

    @Test("At the system's file size limit a new file begins, and no older file is deleted for it")
    func fileLimit() throws {
        let names = folder.path("a-{n}.mp4")
        // In blocks of 1024 bytes.
        let script = "ulimit -f 300; exec \"$@\""
        _ = try ReferenceCommand.run(
            "bash",
            [
                "-c", script, "bash", InletProcess.path, "run",
                "pattern:noise?size=320x240&fps=30&pace=none&frames=300",
                "--to", "mp4:\(names)?bitrate=8M&keep-age=1h", "--report", "none",
            ])
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path("")).sorted()
        #expect(files.count > 3 && files.first == "a-000001.mp4", "\(files)")
        // The newest file may wait for its first fragment.
        for file in files.dropLast() { #expect(try frames(folder.path(file)) > 0, "\(file)") }
    }

    @Test("Settings that a muxer or a copy does not support are refused at once")
    func refusals() throws {
        let pipe = folder.path("pipe.ts")
        _ = try ReferenceCommand.run("mkfifo", [pipe])
        let toPipe = try InletProcess.run(["run", "pattern:smpte", "--frames", "5", "--to", "ts:\(pipe)"])
        #expect(toPipe.status == 64)
        #expect(toPipe.complaints.contains("pipe or a socket"), "\(toPipe.complaints)")
        let scaled = try InletProcess.run([
            "run", try TestClips.path("h264-b.mp4"), "--size", "64x48", "--to",
            "mp4:\(folder.path("a.mp4"))?codec=copy",
        ])
        #expect(scaled.status == 64)
        #expect(scaled.complaints.contains("codec=copy"), "\(scaled.complaints)")
    }

    @Test("A source without packets is reported")
    func nothingToCopy() throws {
        let inlet = try InletProcess.run(["run", "pattern:smpte", "--to", "mp4:\(folder.path("a.mp4"))?codec=copy"])
        #expect(inlet.status == 69)
        #expect(inlet.complaints.contains("Leave out codec=copy"))
    }
}

extension Trait where Self == ConditionTrait {
    fileprivate static func enabled(_ need: Comment, _ condition: @escaping @Sendable () -> Bool) -> Self {
        .enabled(if: condition(), need)
    }
}

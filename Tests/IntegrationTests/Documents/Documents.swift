import Foundation
import ReferenceTools

/// What examples of documents need to run.
enum Documents {
    /// How a command ended, and all that it wrote.
    struct Ended {
        /// As shells have it: 128 and the number of the signal that ended it.
        var status: Int32
        var output: String
    }

    /// The arguments with which ffmpeg makes a small clip of variable rate: every seventh frame is left out.
    static func clip(_ path: String, frames: Int) -> [String] {
        [
            "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=30", "-vf", "select=mod(n\\,7)", "-fps_mode", "vfr",
            "-frames:v", "\(frames)", "-c:v", "libx264", "-preset", "ultrafast", "-g", "30", "-pix_fmt", "yuv420p",
            path,
        ]
    }

    /// Runs a command by a shell, in a folder, with the built programs in the path.
    ///
    /// - Parameters:
    ///   - folder: where the command runs.
    ///   - isEnough: asked with the output so far; once it is true, the command is interrupted, as by Ctrl-C. One that
    ///     runs for longer than a minute is interrupted, too.
    static func shell(
        _ command: String, in folder: TemporaryFolder, until isEnough: (String) -> Bool = { _ in false }
    ) throws -> Ended {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        // In the foreground it passes a signal on once. Otherwise its group gets it as well, and for the command the
        // second one means to end at once.
        process.arguments = [
            "timeout", "--foreground", "--signal=INT", "--kill-after=20", "60", "bash", "-c", command,
        ]
        process.currentDirectoryURL = URL(filePath: folder.path(""))
        var environment = ProcessInfo.processInfo.environment
        let programs = URL(filePath: BuiltProgram.inlet).deletingLastPathComponent().path
        environment["PATH"] = "\(programs):\(environment["PATH"] ?? "/usr/bin:/bin"):/usr/sbin:/sbin"
        for name in ["CAMERA", "SRT", "STREAM", "MEDIA_TOKEN"] { environment[name] = "a-secret-of-tests" }
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        // A file: a child that is left over and holds a pipe open would keep the test waiting.
        let path = folder.path("output-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        process.standardOutput = FileHandle(forWritingAtPath: path)
        process.standardError = process.standardOutput
        func output() -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.runUnblocked()
        var isInterrupted = false
        while ended.wait(timeout: .now() + 0.05) == .timedOut {
            guard !isInterrupted, isEnough(output()) else { continue }
            isInterrupted = true
            kill(process.processIdentifier, SIGINT)
        }
        process.waitUntilExit()
        // As shells count: a signal that comes again when the command has all but ended ends it at once.
        let lead: Int32 = process.terminationReason == .uncaughtSignal ? 128 : 0
        return Ended(status: lead + process.terminationStatus, output: output())
    }
}

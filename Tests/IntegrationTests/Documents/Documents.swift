import Foundation
import ReferenceTools

/// Shared support for running the examples in documents.
enum Documents {
    /// The end of a command, and all its output.
    struct Ended {
        /// The exit status as shells report it: 128 plus the number of the signal that ended the command.
        var status: Int32
        var output: String
    }

    /// The ffmpeg arguments that make a small clip of variable rate: every seventh frame is left out.
    static func clip(_ path: String, frames: Int) -> [String] {
        [
            "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=30", "-vf", "select=mod(n\\,7)", "-fps_mode", "vfr",
            "-frames:v", "\(frames)", "-c:v", "libx264", "-preset", "ultrafast", "-g", "30", "-pix_fmt", "yuv420p",
            path,
        ]
    }

    /// Runs a shell command in a folder, with the built programs in the path.
    ///
    /// - Parameters:
    ///   - folder: the working directory of the command.
    ///   - isEnough: called with the output so far; when it returns true, the command is interrupted, as by Ctrl-C. A
    ///     command that runs for longer than a minute is interrupted, too.
    static func shell(
        _ command: String, in folder: TemporaryFolder, until isEnough: (String) -> Bool = { _ in false }
    ) throws -> Ended {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        // In the foreground `timeout` passes a signal on once. Otherwise it also signals its group, and the command
        // treats a second signal as a request to end at once.
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
        // Output goes to a file: a child that is left over and holds a pipe open would keep the test waiting.
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
        // The status as shells report it: a second signal that arrives just before the command exits ends it at once.
        let lead: Int32 = process.terminationReason == .uncaughtSignal ? 128 : 0
        return Ended(status: lead + process.terminationStatus, output: output())
    }
}

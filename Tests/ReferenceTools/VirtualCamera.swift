import Foundation

/// A camera of a kernel that runs in a virtual machine, with what a command there writes to its standard output: for
/// machines whose own kernel has none.
///
/// The machine ends with ``stop()`` or the last reference.
public final class VirtualCamera: Sendable {
    /// The machine did not come up, or its command wrote nothing in time.
    public struct NoPictures: Error { public var text: String }

    private let pictures = Pipe()
    private let log: String
    private let folder: TemporaryFolder
    private let process = Process()

    /// Boots a kernel with vivid and a v4l2loopback at `/dev/video40`.
    ///
    /// - Parameters:
    ///   - script: what `sh` runs there. It sees all files of this machine.
    ///   - shared: a folder in which what the script writes stays.
    /// - Throws: ``NoPictures`` unless it wrote something within two minutes.
    public init(_ script: String, shared: String) async throws {
        folder = try TemporaryFolder()
        log = folder.path("log")
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        // The thread of a test may have blocked signals, which children inherit: the machine could not be stopped.
        let unblocked =
            "import os, signal, sys; signal.pthread_sigmask(signal.SIG_SETMASK, []); os.execv(sys.argv[1], sys.argv[1:])"
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = [
            "-c", unblocked, Self.machine.path, "--loopback", "--writable", shared, "--time-limit", "600", "--", "sh",
            "-c", script,
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pictures
        process.standardError = FileHandle(forWritingAtPath: log)
        try process.run()
        for _ in 0..<3000 where process.isRunning {
            var state = pollfd(fd: pictures.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            // A pipe whose writer has ended is ready as well.
            if unsafe poll(&state, 1, 0) == 1, state.revents & Int16(POLLIN) != 0 { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        stop()
        throw NoPictures(text: (try? String(contentsOfFile: log, encoding: .utf8)) ?? "")
    }

    deinit { stop() }

    /// Where the output is read, from its beginning, by one reader.
    public var path: String { "/proc/self/fd/\(pictures.fileHandleForReading.fileDescriptor)" }

    /// Ends the machine.
    public func stop() {
        if process.isRunning { process.terminate() }
    }

    /// Why this cannot run here; nil where it can.
    public static let missing = PeerProcess.missing(programs: ["qemu-system-x86_64", "v4l2-ctl", "cpio", "busybox"])

    private static let machine = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Scripts/v4l2-vm")
}

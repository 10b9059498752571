import Foundation

/// A camera in a virtual machine, for machines whose kernel has no virtual cameras. It provides the standard output of
/// a command that runs there.
///
/// The machine ends with ``stop()`` or the last reference.
public final class VirtualCamera: Sendable {
    /// The machine did not start, or its command wrote nothing in time.
    public struct NoPictures: Error { public var text: String }

    private let pictures = Pipe()
    private let log: String
    private let folder: TemporaryFolder
    private let process = Process()

    /// Boots a kernel with vivid and a v4l2loopback device at `/dev/video40`.
    ///
    /// - Parameters:
    ///   - script: a shell script to run there. It can read all files of this machine.
    ///   - shared: a folder for files that the script writes and that remain.
    /// - Throws: ``NoPictures`` if it wrote nothing within two minutes.
    public init(_ script: String, shared: String) async throws {
        folder = try TemporaryFolder()
        log = folder.path("log")
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        // Test threads may block signals, and children inherit that: the machine could not be stopped.
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
            // A pipe is also ready after its writer has ended.
            if unsafe poll(&state, 1, 0) == 1, state.revents & Int16(POLLIN) != 0 { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        stop()
        throw NoPictures(text: (try? String(contentsOfFile: log, encoding: .utf8)) ?? "")
    }

    deinit { stop() }

    /// The path of the output, for one reader.
    public var path: String { "/proc/self/fd/\(pictures.fileHandleForReading.fileDescriptor)" }

    /// Ends the machine.
    public func stop() {
        if process.isRunning { process.terminate() }
    }

    /// The reason why this cannot run here; nil if it can.
    public static let missing = PeerProcess.missing(programs: ["qemu-system-x86_64", "v4l2-ctl", "cpio", "busybox"])

    private static let machine = BuiltProgram.package.appendingPathComponent("Scripts/v4l2-vm")
}

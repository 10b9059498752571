public import Foundation

/// A program to compare with, such as `ffmpeg`.
public struct ReferenceCommand {
    /// The reason why the program failed.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// The time limit of a program in seconds: longer than that of any suite.
    private static let limit = 900

    /// Runs a program, found through `PATH`, until it ends. After a quarter of an hour it is killed, and its status is
    /// 124 or 137, as with `timeout`.
    ///
    /// - Returns: its standard output.
    /// - Throws: ``Failure`` with its standard error if it failed.
    @discardableResult
    public static func run(_ program: String, _ arguments: [String]) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["timeout", "--kill-after=5", "\(limit)", program] + arguments
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        let folder = try TemporaryFolder()
        let complaints = folder.path("stderr")
        _ = FileManager.default.createFile(atPath: complaints, contents: nil)
        process.standardOutput = output
        process.standardError = FileHandle(forWritingAtPath: complaints)
        try process.runUnblocked()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let text = (try? String(contentsOfFile: complaints, encoding: .utf8)) ?? ""
            throw Failure(
                description:
                    "\(program) \(arguments.joined(separator: " ")) ended with \(process.terminationStatus): \(text)")
        }
        return data
    }

    /// Runs a program like ``run(_:_:)``, on a separate thread. For tests whose tasks must continue meanwhile, because
    /// the tasks share few threads.
    @discardableResult
    public static func runAside(_ program: String, _ arguments: [String]) async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try run(program, arguments) }) }
        }
    }

    /// Runs `ffmpeg` quietly and overwrites its outputs.
    @discardableResult
    public static func ffmpeg(_ arguments: [String]) throws -> Data {
        try run("ffmpeg", ["-hide_banner", "-loglevel", "error", "-nostdin", "-y"] + arguments)
    }
}

/// A temporary folder for a test, deleted with the last reference.
public final class TemporaryFolder: Sendable {
    private let folder: URL

    public init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("inlet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Returns the path of a file in the folder. Creates no file.
    public func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
}

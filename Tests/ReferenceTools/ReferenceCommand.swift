public import Foundation

/// A program that tests compare with, such as `ffmpeg`.
public struct ReferenceCommand {
    /// Why the program gave no answer.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// The seconds after which a program is ended: longer than the time limit of any suite.
    private static let limit = 900

    /// Runs a program found through `PATH` until it ends, or for a quarter of an hour: then it is ended, and its status
    /// is 124 or 137, as `timeout` states it.
    ///
    /// - Returns: what it wrote to standard output.
    /// - Throws: ``Failure`` with its standard error where it did not succeed.
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

    /// Runs a program as ``run(_:_:)`` does, on a thread of its own: for tests whose own tasks must go on meanwhile, as
    /// those run on few threads.
    @discardableResult
    public static func runAside(_ program: String, _ arguments: [String]) async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try run(program, arguments) }) }
        }
    }

    /// Runs `ffmpeg` quietly, overwriting its outputs.
    @discardableResult
    public static func ffmpeg(_ arguments: [String]) throws -> Data {
        try run("ffmpeg", ["-hide_banner", "-loglevel", "error", "-nostdin", "-y"] + arguments)
    }
}

/// A folder of its own for a test, deleted with the last reference.
public final class TemporaryFolder: Sendable {
    private let folder: URL

    public init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("inlet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The path of a file in the folder. Makes no file.
    public func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
}

#if GStreamer
import Foundation
import Glibc
import ReferenceTools

/// A command's report of its call.
struct CallStory: Decodable {
    struct End: Decodable, Equatable {
        var by, why: String
        var detail: String?
        var retryAfter: Int?

        enum CodingKeys: String, CodingKey {
            case by, why, detail
            case retryAfter = "retry_after_s"
        }
    }
    var call, me, peer: String
    var outgoing: Bool
    var states: [String]
    var ended: End
    var sent, received: Int
}

/// Standard error holds no report.
private struct NoStory: Error { var text: String }

/// A command that runs next to the test.
final class CallProcess: Sendable {
    private let process = Process()
    private let complaints: String

    /// - Parameter isTimed: whether the process is ended after ten minutes, in case the test is killed. A process
    ///   that the test kills is not timed, because the signal would kill `timeout` instead.
    init(
        _ arguments: [String], in folder: TemporaryFolder, environment: [String: String] = [:], isTimed: Bool = true
    ) throws {
        complaints = folder.path("complaints-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: complaints, contents: nil)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = (isTimed ? ["timeout", "--foreground", "600"] : []) + [InletProcess.path] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle(forWritingAtPath: complaints)
        try process.runUnblocked()
    }

    var text: String { (try? String(contentsOfFile: complaints, encoding: .utf8)) ?? "" }

    /// The process ID, if the process is not timed.
    var identifier: Int32 { process.processIdentifier }

    func interrupt() { process.interrupt() }

    /// Kills the process, as a power cut would. Its children (it has none here) are not killed with it.
    func kill() {
        _ = Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    func said(_ word: String) async throws {
        try await Waiting.until("'\(word)'", progress: { text.utf8.count }) { text.contains(word) }
    }

    /// Waits for the end. Returns the status, and the report on the last line.
    func end() async throws -> (status: Int32, story: CallStory) {
        let process = process
        let status = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                process.waitUntilExit()
                continuation.resume(returning: process.terminationStatus)
            }
        }
        let line = text.split(separator: "\n").last { $0.hasPrefix("{") } ?? ""
        do {
            return (status, try JSONDecoder().decode(CallStory.self, from: Data(line.utf8)))
        } catch {
            throw NoStory(text: text)
        }
    }
}
#endif

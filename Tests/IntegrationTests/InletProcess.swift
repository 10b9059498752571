import Foundation
import ReferenceTools

/// The built `inlet`, run as a person runs it.
struct InletProcess {
    var status: Int32
    var output: Data
    var complaints: String

    /// Beside the test bundle, where the package manager builds both.
    static let path = BuiltProgram.inlet

    /// Runs `inlet` to its end, or for a minute at most.
    ///
    /// - Parameter environment: variables besides those of this process.
    static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> InletProcess {
        try run("timeout", ["60", path] + arguments, environment)
    }

    /// Runs a shell command in which `$INLET` is the program.
    static func shell(_ command: String) throws -> InletProcess {
        try run("timeout", ["60", "bash", "-c", command])
    }

    private static func run(
        _ program: String, _ arguments: [String], _ variables: [String: String] = [:]
    ) throws -> InletProcess {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        var environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        environment["INLET"] = path
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        let folder = try TemporaryFolder()
        let complaints = folder.path("stderr")
        _ = FileManager.default.createFile(atPath: complaints, contents: nil)
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle(forWritingAtPath: complaints)
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return InletProcess(
            status: process.terminationStatus, output: data,
            complaints: (try? String(contentsOfFile: complaints, encoding: .utf8)) ?? "")
    }
}

/// The JSON report of a run.
struct Report: Decodable {
    struct Frames: Decodable {
        var captured: Int
        var converted: Int
        var delivered: Int
        var dropped: [String: Int]
    }
    struct Failure: Decodable {
        var code: String
        var message: String
    }
    var frames: Frames
    var ended: String
    var error: Failure?
    /// The most resident memory that the process had.
    var peakKiB: Int

    private enum CodingKeys: String, CodingKey {
        case frames, ended, error
        case peakKiB = "peak_rss_kib"
    }

    /// Standard error holds something besides the report.
    struct NoReport: Error, CustomStringConvertible {
        var text: String
        var description: String { "no report alone: \(text)" }
    }

    init(_ process: InletProcess) throws {
        do {
            self = try JSONDecoder().decode(Report.self, from: Data(process.complaints.utf8))
        } catch {
            throw NoReport(text: process.complaints)
        }
    }
}

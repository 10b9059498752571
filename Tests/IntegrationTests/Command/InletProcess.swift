import Foundation
import ReferenceTools

/// The built `inlet` command, run as a user runs it.
struct InletProcess {
    var status: Int32
    var output: Data
    var complaints: String

    /// The command is next to the test bundle, because the package manager builds both there.
    static let path = BuiltProgram.inlet

    /// Runs `inlet` to its end, for a minute at most.
    ///
    /// - Parameter environment: variables in addition to those of this process.
    static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> InletProcess {
        try run("timeout", ["--kill-after=5", "300", path] + arguments, environment)
    }

    /// Runs a shell command in which `$INLET` is the program.
    static func shell(_ command: String) throws -> InletProcess {
        try run("timeout", ["--kill-after=5", "300", "bash", "-c", command])
    }

    /// Runs `inlet` until a condition holds, then interrupts it. Returns when it has ended, which may be earlier.
    ///
    /// - Parameters:
    ///   - environment: variables in addition to those of this process.
    ///   - progress: as for `Waiting.until`.
    /// - Throws: `Waiting.NeverCame` if neither the condition nor the end comes while nothing changes.
    static func run<Progress: Equatable>(
        _ arguments: [String], environment: [String: String], until what: String, progress: () throws -> Progress,
        _ isSo: () throws -> Bool
    ) async throws -> InletProcess {
        let process = process("timeout", ["--kill-after=5", "900", path] + arguments, environment)
        let folder = try TemporaryFolder()
        let (output, complaints) = (folder.path("stdout"), folder.path("stderr"))
        for file in [output, complaints] { _ = FileManager.default.createFile(atPath: file, contents: nil) }
        process.standardOutput = FileHandle(forWritingAtPath: output)
        process.standardError = FileHandle(forWritingAtPath: complaints)
        try process.runUnblocked()
        // `timeout` passes signals on.
        defer { if process.isRunning { process.terminate() } }
        try await Waiting.until(what, progress: progress) { try !process.isRunning || isSo() }
        if process.isRunning { process.interrupt() }
        try await Waiting.until("the end", progress: { 0 }) { !process.isRunning }
        return InletProcess(
            status: process.terminationStatus, output: FileManager.default.contents(atPath: output) ?? Data(),
            complaints: String(decoding: FileManager.default.contents(atPath: complaints) ?? Data(), as: UTF8.self))
    }

    private static func process(
        _ program: String, _ arguments: [String], _ variables: [String: String] = [:]
    ) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        var environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        environment["INLET"] = path
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        return process
    }

    private static func run(
        _ program: String, _ arguments: [String], _ variables: [String: String] = [:]
    ) throws -> InletProcess {
        let process = process(program, arguments, variables)
        let folder = try TemporaryFolder()
        let complaints = folder.path("stderr")
        _ = FileManager.default.createFile(atPath: complaints, contents: nil)
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle(forWritingAtPath: complaints)
        try process.runUnblocked()
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
    /// The process's peak resident memory.
    var peakKiB: Int

    private enum CodingKeys: String, CodingKey {
        case frames, ended, error
        case peakKiB = "peak_rss_kib"
    }

    /// Standard error holds other text besides the report.
    struct NoReport: Error, CustomStringConvertible {
        var text: String
        var description: String { "not only a report: \(text)" }
    }

    /// The beginnings of lines about stalls, which any live source can have on a busy machine.
    private static let stalls = ["The source delivers no frames.", "The source delivers frames again after"]

    init(_ process: InletProcess) throws {
        let lines = process.complaints.split(separator: "\n").filter { line in
            !Self.stalls.contains { line.hasPrefix($0) }
        }
        do {
            self = try JSONDecoder().decode(Report.self, from: Data(lines.joined(separator: "\n").utf8))
        } catch {
            throw NoReport(text: process.complaints)
        }
    }
}

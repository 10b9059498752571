import Foundation
import Synchronization

/// A test server in a separate process: a script of `Tests/Peers`, which reports when it is ready, takes commands, and
/// never outlives the test.
///
/// Safe to use from any thread. No call blocks longer than its deadline. The server ends with ``stop()``, with the last
/// reference, or when this process ends, because the script watches its standard input.
public final class PeerProcess: Sendable {
    /// The script's message when it was ready, for example with its port.
    public let ready: PeerMessage
    /// The process id of the script.
    public let processIdentifier: Int32

    private let name: String
    private let process: Process
    private let input: FileHandle
    // Kept open, so that a command to a script that has just ended cannot raise SIGPIPE here.
    private let unreadInput: FileHandle
    private let output: PeerOutput
    private let lastCommand = Mutex(0)
    private let ended = DispatchSemaphore(value: 0)

    /// Starts a script and waits until it is ready.
    ///
    /// - Parameters:
    ///   - script: a file name in `Tests/Peers`.
    ///   - python: the interpreter. The default is Debian's, which has the needed packages; another one that comes
    ///     first in PATH doesn't.
    ///   - limit: the maximum time until the script is ready.
    /// - Throws: ``Failure`` with all of the script's output.
    public init(
        _ script: String, _ arguments: [String] = [], python: String = "/usr/bin/python3",
        readyWithin limit: Duration = .seconds(30)
    ) throws {
        name = script
        process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = ["-B", Self.folder.appendingPathComponent(script).path] + arguments
        let commands = Pipe()
        let answers = Pipe()
        let complaints = Pipe()
        process.standardInput = commands
        process.standardOutput = answers
        process.standardError = complaints
        input = commands.fileHandleForWriting
        unreadInput = FileHandle(
            fileDescriptor: dup(commands.fileHandleForReading.fileDescriptor), closeOnDealloc: true)
        output = PeerOutput(answers: answers.fileHandleForReading, complaints: complaints.fileHandleForReading)
        process.terminationHandler = { [ended] _ in ended.signal() }
        try process.run()
        processIdentifier = process.processIdentifier
        do {
            ready = try output.next(within: limit)
        } catch {
            process.terminate()
            throw Failure(
                description: "\(script) \(arguments.joined(separator: " ")) was not ready: \(error) \(output.text)")
        }
        if let reason = ready["error"] {
            throw Failure(description: "\(script) did not start: \(reason.text) \(output.text)")
        }
    }

    deinit { stop() }

    /// Sends a command and waits for its answer.
    ///
    /// - Parameter command: a command from the script's table in `Tests/Peers/README.md`.
    /// - Throws: ``Failure`` if the script refuses the command or doesn't answer.
    @discardableResult
    public func send(
        _ command: String, _ parameters: PeerMessage = [:], within limit: Duration = .seconds(10)
    ) throws -> PeerMessage {
        var message = parameters
        // One command at a time, so that answers come in the order of the commands.
        return try lastCommand.withLock { number in
            number += 1
            message["command"] = .string(command)
            message["id"] = .number(Double(number))
            var line = try JSONEncoder().encode(message)
            line.append(UInt8(ascii: "\n"))
            do {
                try input.write(contentsOf: line)
                while true {
                    let answer = try output.next(within: limit)
                    // Lines without an identifier are events.
                    guard answer["id"] == message["id"] else { continue }
                    guard answer["ok"] == .bool(true) else {
                        throw Failure(description: answer["error"]?.text ?? "refused")
                    }
                    return answer
                }
            } catch {
                throw Failure(description: "\(name): '\(command)' failed: \(error) \(output.text)")
            }
        }
    }

    /// Kills the server, like a power cut, and waits for its end. The kernel closes its sockets. A second call has no
    /// effect.
    public func stop() {
        try? input.close()
        guard process.isRunning else { return }
        // The script ends its children. If it fails to, the kernel ends them.
        process.terminate()
        if ended.wait(timeout: .now() + 5) == .timedOut {
            kill(processIdentifier, SIGKILL)
            _ = ended.wait(timeout: .now() + 5)
        }
        ended.signal()
        // `isRunning` becomes false a moment after the call of the handler.
        process.waitUntilExit()
    }

    /// Whether the script runs.
    public var isRunning: Bool { process.isRunning }

    /// The events of the script so far: its lines with an `event`, in order.
    public var events: [PeerMessage] { output.events }

    /// The script's output so far, for the message of a failed test.
    public var log: String { output.text }

    /// The reason why a server did not start or failed to execute a command.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// Returns the path of a script of `Tests/Peers` that prints its results and ends.
    public static func path(_ script: String) -> String { folder.appendingPathComponent(script).path }

    /// `Tests/Peers`.
    static let folder = BuiltProgram.package.appendingPathComponent("Tests/Peers")

    /// The interpreter with the packages of `Tests/Peers/requirements.txt`, which `Scripts/bootstrap` installs.
    public static let python = BuiltProgram.package.appendingPathComponent(".build/peers/bin/python").path

    /// The reason why a server that needs these cannot run here; nil if it can. For `.enabled(if:)`, which prints it.
    ///
    /// - Parameters:
    ///   - programs: names of programs on `PATH`.
    ///   - typelibs: libraries that Debian's Python loads through `gi`.
    public static func missing(programs: [String], typelibs: [String] = []) -> String? {
        let paths: [String] =
            (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
            + ["/usr/sbin"]
        for program in programs
        where !paths.contains(where: { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }) {
            return "\(program) is not installed; Scripts/bootstrap --test installs it"
        }
        for typelib in typelibs {
            let check = "import gi; gi.require_version('\(typelib)', '1.0')"
            guard (try? ReferenceCommand.run("/usr/bin/python3", ["-c", check])) != nil else {
                return "\(typelib) is not there for Python; Scripts/bootstrap --test installs it"
            }
        }
        return nil
    }
}

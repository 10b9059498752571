import Foundation
import ReferenceTools

/// `inlet serve` as a separate process, with a configuration in a separate folder.
final class ServeProcess {
    static let admin = "admin-0123456789abcdefghij"
    static let viewer = "viewer-0123456789abcdefghi"

    let port: Int
    let folder: TemporaryFolder
    private(set) var process = Process()
    private let log: String
    private let environment: [String: String]
    /// The certificates that curl trusts; nil for plain HTTP.
    private let authority: String?
    /// The command that runs a program in the daemon's network; empty for this process's network.
    private let entry: [String]
    /// The command that becomes the daemon, with its arguments; may be empty.
    private let wrapper: [String]

    var address: String { "\(authority == nil ? "http" : "https")://127.0.0.1:\(port)" }
    var configuration: String { folder.path("cameras.yaml") }
    /// The daemon's log.
    var complaints: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

    /// Starts the daemon and waits until it answers.
    ///
    /// - Parameters:
    ///   - tokens: whether the configuration has tokens.
    ///   - authority: the file of certificates that includes the daemon's; nil for plain HTTP.
    ///   - network: a process in whose network the daemon runs; nil for that of this process.
    ///   - wrapper: a command, with its arguments, that becomes the command after it. Empty by default.
    init(
        _ cameras: String, tokens: Bool = true, authority: String? = nil, environment: [String: String] = [:],
        network: Int? = nil, wrapper: [String] = []
    ) async throws {
        self.wrapper = wrapper
        entry = network.map { ["nsenter", "--net=/proc/\($0)/ns/net"] } ?? []
        self.environment = ProcessInfo.processInfo.environment.merging(
            ["INLET_ADMIN": Self.admin, "INLET_VIEWER": Self.viewer].merging(environment) { $1 }
        ) { $1 }
        self.authority = authority
        port = try FreePort.find()
        folder = try TemporaryFolder()
        log = folder.path("log")
        var text = "server:\n  listen: 127.0.0.1:\(port)\n"
        if tokens {
            text +=
                "  tokens:\n    boss: {scope: admin, env: INLET_ADMIN}\n    wall: {scope: view, env: INLET_VIEWER}\n"
        }
        try write(text + cameras)
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        try await launch()
    }

    /// Starts the daemon again after its end, and waits until it answers.
    func launch() async throws {
        process = Process()
        // Neither env nor nsenter creates a separate process.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = entry + wrapper + [BuiltProgram.inlet, "serve", folder.path("cameras.yaml")]
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path(""))
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle(forWritingAtPath: log)
        try process.runUnblocked()
        _ = try await run(
            "curl",
            ["-s", "--retry", "60", "--retry-connrefused", "--retry-delay", "1", "\(address)/healthz"] + trust)
    }

    /// Runs a program in the daemon's network, and returns its output.
    func run(_ program: String, _ arguments: [String]) async throws -> Data {
        let words = entry + [program] + arguments
        return try await ReferenceCommand.runAside(words[0], Array(words.dropFirst()))
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    private var trust: [String] { authority.map { ["--cacert", $0] } ?? [] }

    /// Writes the configuration, without the part before the cameras.
    func write(_ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path("cameras.yaml")))
    }

    /// Sends a request.
    ///
    /// - Parameter type: the type of the body. The default is JSON.
    /// - Returns: the status and the body.
    func ask(
        _ method: String, _ path: String, token: String? = ServeProcess.admin, body: String? = nil,
        type: String = "application/json", headers: [String] = []
    ) async throws -> (status: Int, body: Data) {
        let file = folder.path("answer-\(UUID().uuidString)")
        var arguments = ["-s", "-m", "30", "-X", method, "-o", file, "-w", "%{http_code}", address + path]
        arguments += trust
        if let token { arguments += ["-H", "authorization: Bearer \(token)"] }
        if let body { arguments += ["-H", "content-type: \(type)", "--data-binary", body] }
        for header in headers { arguments += ["-H", header] }
        let output = try await run("curl", arguments)
        return (
            Int(String(decoding: output, as: UTF8.self)) ?? 0,
            (try? Data(contentsOf: URL(fileURLWithPath: file))) ?? Data()
        )
    }

    /// Returns the lines of a response's head.
    func head(of method: String, _ path: String, headers: [String] = []) async throws -> [String] {
        var arguments = ["-s", "-m", "30", "-o", "/dev/null", "-D", "-", address + path] + trust
        arguments += method == "HEAD" ? ["-I"] : ["-X", method]
        arguments += ["-H", "authorization: Bearer \(Self.admin)"]
        for header in headers { arguments += ["-H", header] }
        let output = try await run("curl", arguments)
        return String(decoding: output, as: UTF8.self).split(whereSeparator: \.isNewline).map { $0.lowercased() }
    }

    /// The event that did not happen in time.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// A camera as the API shows it.
    struct Camera: Decodable {
        var name: String
        var source: String
        var state: String
        var captured: Int
        var openings: Int
        /// The camera's own process; nil if it has none.
        var process: OwnProcess?
        var priority: String
        /// The camera's reduction by the budget of cores; nil if it is not reduced.
        var degraded: Degradation?
    }

    /// A reduction as the API shows it.
    struct Degradation: Decodable {
        var by: String
        var why: String
    }

    /// The camera's own process as the API shows it.
    struct OwnProcess: Decodable {
        var id: Int32?
        var restarts: Int
        var memoryLimit: Int?
    }

    /// Waits until a camera meets a condition.
    ///
    /// - Throws: ``Failure`` if it does not, within the time of ``last(of:until:)``.
    func camera(_ name: String, until isReached: (Camera) -> Bool) async throws -> Camera {
        var answer = ""
        let camera = try await Self.last {
            let (status, body) = try await ask("GET", "/v1/cameras/\(name)")
            answer = "\(status) \(String(decoding: body, as: UTF8.self))"
            return status == 200 ? try JSONDecoder().decode(Camera.self, from: body) : nil
        } until: {
            $0.map(isReached) == true
        }
        guard let camera, isReached(camera) else {
            throw Failure(description: "\(name) did not come so far: \(answer)\n\(complaints)")
        }
        return camera
    }

    /// Requests ten times a second, for two minutes at most, because a machine may be busy.
    ///
    /// - Returns: the first answer that meets a condition, or the last one.
    static func last<Answer>(
        of ask: () async throws -> Answer, until isReached: (Answer) -> Bool
    ) async throws -> Answer {
        let end = ContinuousClock.now + .seconds(120)
        while true {
            let answer = try await ask()
            if isReached(answer) || ContinuousClock.now > end { return answer }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Sends a signal and waits for the end.
    ///
    /// - Returns: the exit status.
    func end(_ signal: Int32 = SIGTERM) async -> Int32 {
        kill(process.processIdentifier, signal)
        return await withCheckedContinuation { continuation in
            let process = process
            Thread.detachNewThread {
                process.waitUntilExit()
                continuation.resume(returning: process.terminationStatus)
            }
        }
    }
}

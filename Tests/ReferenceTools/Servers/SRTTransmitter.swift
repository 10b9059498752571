import Foundation

/// `srt-live-transmit`, a tool of libsrt, which writes the received SRT stream to a file.
public final class SRTTransmitter: Sendable {
    /// The written file.
    public let path: String
    private let process: Process
    private let ended = DispatchSemaphore(value: 0)

    /// Starts the tool.
    ///
    /// - Parameters:
    ///   - uri: the tool's input, such as `srt://:9000?mode=listener`.
    ///   - path: the file to write.
    ///   - goesOn: whether the tool waits for another connection after one ends. Otherwise it ends with the first
    ///     connection.
    public init(_ uri: String, to path: String, goesOn: Bool = false) throws {
        self.path = path
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "srt-live-transmit", "-quiet", "-autoreconnect:\(goesOn ? "yes" : "no")", "-chunk:1456", uri, "file://con",
        ]
        process.standardInput = FileHandle.nullDevice
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        _ = FileManager.default.createFile(atPath: path + ".log", contents: nil)
        process.standardOutput = FileHandle(forWritingAtPath: path)
        process.standardError = FileHandle(forWritingAtPath: path + ".log")
        process.terminationHandler = { [ended] _ in ended.signal() }
        try process.run()
    }

    deinit { stop() }

    /// The number of written bytes.
    public var byteCount: Int {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }

    /// The standard error.
    public var log: String { (try? String(contentsOfFile: path + ".log", encoding: .utf8)) ?? "" }

    /// Waits until the tool listens at a port in the caller's network namespace. The tool must run in the same
    /// namespace.
    ///
    /// - Throws: ``Ended`` if the tool has ended instead, for example because of an invalid address or a port in use;
    ///   ``Waiting/NeverCame``.
    public func listens(at port: Int) async throws {
        // In proc(5)'s format, the local address of each socket is the second word. After its colon comes the port in
        // four hexadecimal digits.
        let wanted =
            ":" + String(repeating: "0", count: max(0, 4 - String(port, radix: 16).count))
            + String(port, radix: 16, uppercase: true)
        try await Waiting.until("a listener at port \(port)", progress: { log }) {
            let tables = ["udp", "udp6"].map { (try? String(contentsOfFile: "/proc/net/\($0)", encoding: .utf8)) ?? "" }
            let isThere = tables.joined().split(separator: "\n").contains { line in
                line.split(separator: " ").dropFirst().first?.hasSuffix(wanted) ?? false
            }
            guard isThere || process.isRunning else { throw Ended(log: log) }
            return isThere
        }
    }

    /// The tool ended instead of listening.
    public struct Ended: Error, CustomStringConvertible {
        public var log: String
        public var description: String { "srt-live-transmit ended: \(log)" }
    }

    /// Suspends the tool, like a machine that hangs; its sockets stay open.
    public func suspend() { kill(process.processIdentifier, SIGSTOP) }

    /// Resumes the tool.
    public func resume() { kill(process.processIdentifier, SIGCONT) }

    /// Waits up to half a minute until the tool ends by itself.
    ///
    /// - Returns: whether it ended.
    public func waitForEnd() -> Bool {
        guard ended.wait(timeout: .now() + 30) == .success else { return false }
        ended.signal()
        return true
    }

    /// Kills the tool.
    public func stop() {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        _ = waitForEnd()
    }
}

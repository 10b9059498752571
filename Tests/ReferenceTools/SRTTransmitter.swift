import Foundation

/// `srt-live-transmit` of libsrt's own tools, which writes what it receives by SRT into a file.
public final class SRTTransmitter: Sendable {
    /// What it writes.
    public let path: String
    private let process: Process
    private let ended = DispatchSemaphore(value: 0)

    /// Starts it.
    ///
    /// - Parameters:
    ///   - uri: as it takes it, such as `srt://:9000?mode=listener`.
    ///   - path: the file that is written.
    ///   - goesOn: whether it waits for another connection when one has ended. Otherwise it ends then.
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

    /// How many bytes it has written.
    public var byteCount: Int {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }

    /// What it said.
    public var log: String { (try? String(contentsOfFile: path + ".log", encoding: .utf8)) ?? "" }

    /// Waits until it listens at a port, in its own network namespace, which is that of whoever asks.
    ///
    /// - Throws: ``Ended`` where it has ended instead, as for an address that it does not understand or a port that is
    ///   taken; ``Waiting/NeverCame``.
    public func listens(at port: Int) async throws {
        // As proc(5) has it: the local address of each socket is its second word, the port behind the colon in four
        // hexadecimal digits.
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

    /// It ended, though it was to listen.
    public struct Ended: Error, CustomStringConvertible {
        public var log: String
        public var description: String { "srt-live-transmit ended: \(log)" }
    }

    /// Stops it in its tracks, as a machine that hangs; its sockets stay.
    public func suspend() { kill(process.processIdentifier, SIGSTOP) }

    /// Lets it go on.
    public func resume() { kill(process.processIdentifier, SIGCONT) }

    /// Waits until it ends by itself, half a minute at most.
    ///
    /// - Returns: whether it did.
    public func waitForEnd() -> Bool {
        guard ended.wait(timeout: .now() + 30) == .success else { return false }
        ended.signal()
        return true
    }

    /// Ends it at once.
    public func stop() {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        _ = waitForEnd()
    }
}

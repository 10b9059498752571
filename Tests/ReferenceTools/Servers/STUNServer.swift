/// A STUN server at an address of this host, in Python's standard library. It sends every client the same mapped
/// address, or never answers.
public final class STUNServer: Sendable {
    /// The process, for its log.
    public let process: PeerProcess
    /// The address and port.
    public let address: String

    /// Starts a server and waits until it is ready.
    ///
    /// - Parameters:
    ///   - mapped: the address in every answer.
    ///   - isSilent: whether the server never answers.
    /// - Throws: ``PeerProcess/Failure``.
    public init(mapped: String = "203.0.113.7", isSilent: Bool = false) throws {
        process = try PeerProcess("stun-server.py", ["--mapped", mapped] + (isSilent ? ["--silent"] : []))
        address = process.ready["address"]?.text ?? ""
    }

    /// Returns the number of received Binding requests.
    public func requests() throws -> Int { try process.send("report")["requests"]?.int ?? 0 }

    /// Ends the server at once.
    public func stop() { process.stop() }
}

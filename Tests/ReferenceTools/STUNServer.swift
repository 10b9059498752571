/// A STUN server at an address of this host, by Python's standard library, that tells everybody one address or never
/// answers.
public final class STUNServer: Sendable {
    /// The process, for its log.
    public let process: PeerProcess
    /// The address and port.
    public let address: String

    /// Starts a server and waits until it is there.
    ///
    /// - Parameters:
    ///   - mapped: the address that everybody is told.
    ///   - isSilent: whether it never answers.
    /// - Throws: ``PeerProcess/Failure``.
    public init(mapped: String = "203.0.113.7", isSilent: Bool = false) throws {
        process = try PeerProcess("stun-server.py", ["--mapped", mapped] + (isSilent ? ["--silent"] : []))
        address = process.ready["address"]?.text ?? ""
    }

    /// How many Binding requests have come.
    public func requests() throws -> Int { try process.send("report")["requests"]?.int ?? 0 }

    /// Ends the server at once.
    public func stop() { process.stop() }
}

/// coturn on 127.0.0.1, which relays for whoever has credentials made of a secret.
public final class TURNServer: Sendable {
    /// The process, for its log.
    public let process: PeerProcess
    /// The port, of UDP and of TCP.
    public let port: Int
    /// What credentials are made of.
    public let secret: String

    /// Starts a server and waits until it is there.
    ///
    /// - Parameter isTCPAlone: whether it takes clients by TCP alone; what it relays is UDP in any case.
    /// - Throws: ``PeerProcess/Failure``.
    public init(secret: String = "north-by-northwest", isTCPAlone: Bool = false) throws {
        process = try PeerProcess("turn-server.py", ["--secret", secret] + (isTCPAlone ? ["--no-udp"] : []))
        port = process.ready["port"]?.int ?? 0
        self.secret = secret
    }

    /// Why this server cannot run here; nil where it can.
    public static let missing: String? = PeerProcess.missing(programs: ["turnserver"])

    /// The names in the credentials that were given a relay.
    public func users() throws -> [String] {
        guard case .list(let names)? = try process.send("report")["given"] else { return [] }
        return names.map(\.text)
    }

    /// Ends the server at once.
    public func stop() { process.stop() }
}

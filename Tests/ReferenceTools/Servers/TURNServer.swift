/// coturn on 127.0.0.1, a relay for clients with credentials derived from a secret.
public final class TURNServer: Sendable {
    /// The process, for its log.
    public let process: PeerProcess
    /// The port, of UDP and of TCP.
    public let port: Int
    /// The secret for credentials.
    public let secret: String

    /// The TLS port; 0 without TLS.
    public let securePort: Int
    /// The path of a PEM file with the authority of its certificate. The certificate covers 127.0.0.1 and localhost.
    public let authority: String

    /// Starts a server and waits until it is ready.
    ///
    /// - Parameters:
    ///   - isTCPAlone: whether clients can connect only by TCP. The relayed traffic is always UDP.
    ///   - hasTLS: whether clients can also connect by TLS.
    /// - Throws: ``PeerProcess/Failure``.
    public init(secret: String = "north-by-northwest", isTCPAlone: Bool = false, hasTLS: Bool = false) throws {
        process = try PeerProcess(
            "turn-server.py",
            ["--secret", secret] + (isTCPAlone ? ["--no-udp"] : []) + (hasTLS ? ["--tls"] : []))
        securePort = process.ready["tls"]?.int ?? 0
        authority = process.ready["authority"]?.text ?? ""
        port = process.ready["port"]?.int ?? 0
        self.secret = secret
    }

    /// The reason why this server cannot run here; nil if it can.
    public static let missing: String? = PeerProcess.missing(programs: ["turnserver"])

    /// Returns the user names of the credentials that got a relay.
    public func users() throws -> [String] {
        guard case .list(let names)? = try process.send("report")["given"] else { return [] }
        return names.map(\.text)
    }

    /// Returns the first 16 bytes from each client of the TLS port, in hexadecimal digits.
    public func firstBytes() throws -> [String] {
        guard case .list(let bytes)? = try process.send("report")["first"] else { return [] }
        return bytes.map(\.text)
    }

    /// Ends the server at once.
    public func stop() { process.stop() }
}

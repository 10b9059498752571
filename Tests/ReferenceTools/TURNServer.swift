/// coturn on 127.0.0.1, which relays for whoever has credentials made of a secret.
public final class TURNServer: Sendable {
    /// The process, for its log.
    public let process: PeerProcess
    /// The port, of UDP and of TCP.
    public let port: Int
    /// What credentials are made of.
    public let secret: String

    /// The port of TLS; 0 if there is none.
    public let securePort: Int
    /// The path of a PEM file with the authority of its certificate, which is for 127.0.0.1 and localhost.
    public let authority: String

    /// Starts a server and waits until it is there.
    ///
    /// - Parameters:
    ///   - isTCPAlone: whether it takes clients by TCP alone; what it relays is UDP in any case.
    ///   - hasTLS: whether it takes clients by TLS, too.
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

    /// Why this server cannot run here; nil where it can.
    public static let missing: String? = PeerProcess.missing(programs: ["turnserver"])

    /// The names in the credentials that were given a relay.
    public func users() throws -> [String] {
        guard case .list(let names)? = try process.send("report")["given"] else { return [] }
        return names.map(\.text)
    }

    /// The first 16 bytes that each client of the port of TLS has sent, in hexadecimal digits.
    public func firstBytes() throws -> [String] {
        guard case .list(let bytes)? = try process.send("report")["first"] else { return [] }
        return bytes.map(\.text)
    }

    /// Ends the server at once.
    public func stop() { process.stop() }
}

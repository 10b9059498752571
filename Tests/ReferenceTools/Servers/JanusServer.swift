/// The media server Janus on 127.0.0.1. Room 1234 is open, room 4321 has the PIN `hum-a-tune`, and room 1 accepts one
/// publisher.
public final class JanusServer: Sendable {
    /// The process, for its log.
    public let process: PeerProcess
    /// The port of its WebSocket.
    public let port: Int
    /// The process identifier of Janus, which the peer started.
    public let identifier: Int32
    /// The certificate of the server's authority, and that of another authority, with TLS.
    public let authority, otherAuthority: String?
    /// The address of its WebSocket, as in URIs of sources and sinks, without a room.
    public var address: String { "janus+ws\(authority == nil ? "" : "s")://127.0.0.1:\(port)/" }
    /// The reason why this server cannot run here; nil if it can.
    public static let missing: String? = PeerProcess.missing(programs: ["janus"])

    /// Starts a server and waits until it listens.
    ///
    /// - Parameters:
    ///   - port: the port of an earlier server; 0 for a free port.
    ///   - certificateName: the host name in the TLS certificate. `localhost` also covers 127.0.0.1; another name
    ///     doesn't match. The default is nil: no TLS.
    /// - Throws: ``PeerProcess/Failure``.
    public init(port: Int = 0, certificateName: String? = nil) throws {
        process = try PeerProcess(
            "janus-server.py", ["--port", "\(port)"] + (certificateName.map { ["--certificate-name", $0] } ?? []))
        authority = process.ready["ca"]?.text
        otherAuthority = process.ready["other"]?.text
        self.port = process.ready["port"]?.int ?? 0
        identifier = Int32(clamping: process.ready["pid"]?.int ?? 0)
    }

    /// Returns the end of its log.
    public func log() throws -> String { try process.send("report")["log"]?.text ?? "" }

    /// Kills the server, like a power cut.
    public func stop() { process.stop() }
}

/// The media server Janus on 127.0.0.1: the room 1234 is open, 4321 has the PIN `hum-a-tune`, 1 is for one publisher.
public final class JanusServer: Sendable {
    /// The process, for its log.
    public let process: PeerProcess
    /// The port of its WebSocket.
    public let port: Int
    /// The number of Janus's process, which the peer has started.
    public let identifier: Int32
    /// The certificate of the authority that vouches for the server, and that of another authority, with TLS.
    public let authority, otherAuthority: String?
    /// The address of its WebSocket, as in URIs of sources and sinks, without a room.
    public var address: String { "janus+ws\(authority == nil ? "" : "s")://127.0.0.1:\(port)/" }
    /// Why this server cannot run here; nil where it can.
    public static let missing: String? = PeerProcess.missing(programs: ["janus"])

    /// Starts a server and waits until it listens.
    ///
    /// - Parameters:
    ///   - port: where an earlier one was; 0 takes a free one.
    ///   - certificateName: whom a certificate is for, with which it serves by TLS: `localhost` also covers 127.0.0.1,
    ///     another does not fit. The default, nil, is no TLS.
    /// - Throws: ``PeerProcess/Failure``.
    public init(port: Int = 0, certificateName: String? = nil) throws {
        process = try PeerProcess(
            "janus-server.py", ["--port", "\(port)"] + (certificateName.map { ["--certificate-name", $0] } ?? []))
        authority = process.ready["ca"]?.text
        otherAuthority = process.ready["other"]?.text
        self.port = process.ready["port"]?.int ?? 0
        identifier = Int32(clamping: process.ready["pid"]?.int ?? 0)
    }

    /// The end of its log.
    public func log() throws -> String { try process.send("report")["log"]?.text ?? "" }

    /// Ends the server at once, as a power cut would.
    public func stop() { process.stop() }
}

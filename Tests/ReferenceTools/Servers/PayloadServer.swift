/// An RTSP server that sends a raw H.264 or H.265 file over TCP, with unusual RTP.
public final class PayloadServer: Sendable {
    /// The kinds of unusual RTP.
    public enum Kind: String, Sendable, CaseIterable {
        /// Normal RTP.
        case plain
        /// One RTP packet of every fifth picture is missing, as from a server with a slow connection.
        case gap
        /// The connection closes in the middle of the last picture.
        case death
        /// The session has a second video stream, and sender reports come in mid-picture from a drifting clock.
        case report
        /// An SVC prefix precedes each slice; H.264 only.
        case prefix
    }

    /// The process, for its log.
    public let process: PeerProcess
    /// The URL of the stream.
    public let url: String

    /// Starts a server and waits until it listens.
    ///
    /// - Parameters:
    ///   - file: raw H.264 or H.265.
    ///   - payload: the size of a payload without its header, in bytes.
    /// - Throws: ``PeerProcess/Failure``.
    public init(_ kind: Kind, file: String, codec: RTSPServer.Codec, payload: Int = 500) throws {
        process = try PeerProcess(
            "payload-server.py",
            ["--kind", kind.rawValue, "--file", file, "--codec", codec.rawValue, "--mtu", "\(payload)"])
        url = process.ready["url"]?.text ?? ""
    }

    /// Ends the server at once.
    public func stop() { process.stop() }
}

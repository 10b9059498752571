/// An RTSP server that sends a raw H.264 or H.265 file over TCP, and does odd things to its RTP.
public final class PayloadServer: Sendable {
    /// What is odd.
    public enum Kind: String, Sendable, CaseIterable {
        /// Nothing.
        case plain
        /// An RTP packet of each fifth picture is left out, as by a server whose connection is too slow.
        case gap
        /// The connection is closed in the middle of the last picture.
        case death
        /// There is a second video stream, and sender reports come in mid-picture, by a clock that drifts.
        case report
        /// An SVC prefix stands before each slice; H.264 only.
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
    ///   - payload: bytes of a payload without its header.
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

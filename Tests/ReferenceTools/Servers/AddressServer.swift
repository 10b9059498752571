/// A server on 127.0.0.1 that records, byte for byte, the addresses and credentials that clients send. It serves no
/// media.
public final class AddressServer: Sendable {
    /// The protocol of the server, and the values that it records.
    public enum Kind: Sendable {
        /// RTSP and HTTP: the request line and the decoded Authorization header. The server asks for Basic first.
        case text
        /// ffmpeg as an RTMP listener: application and stream, each on a line.
        case rtmp
        /// RTMP with Adobe's authentication: the user, and whether the password is right.
        case rtmpWithPassword(String)
        /// GStreamer as an SRT listener: the stream identifier. The server accepts media encrypted with the passphrase.
        case srt(passphrase: String)
    }

    /// The process, for its log.
    public let process: PeerProcess
    /// The port that it listens on.
    public let port: Int

    /// Starts the server and waits until it listens.
    ///
    /// - Throws: ``PeerProcess/Failure``.
    public init(_ kind: Kind) throws {
        let arguments =
            switch kind {
            case .text: ["--kind", "text"]
            case .rtmp: ["--kind", "rtmp"]
            case .rtmpWithPassword(let password): ["--kind", "auth", "--password=\(password)"]
            case .srt(let passphrase): ["--kind", "srt", "--passphrase=\(passphrase)"]
            }
        process = try PeerProcess("address-server.py", arguments)
        port = process.ready["port"]?.int ?? 0
    }

    /// The reason why this server cannot run here; nil if it can.
    public static let missing = PeerProcess.missing(programs: ["ffmpeg"], typelibs: ["Gst"])

    /// Returns the recorded lines.
    public func lines() throws -> [String] {
        guard case .list(let lines)? = try process.send("report")["lines"] else { return [] }
        return lines.map(\.text)
    }

    /// Returns the number of received bytes of media, with SRT.
    public func bytes() throws -> Int { try process.send("report")["bytes"]?.int ?? 0 }

    /// Ends the server at once.
    public func stop() { process.stop() }
}

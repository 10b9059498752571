/// A server on 127.0.0.1 that notes, byte for byte, what clients say of where they want to go and who they are, and
/// serves nothing.
public final class AddressServer: Sendable {
    /// What it speaks, and what it notes.
    public enum Kind: Sendable {
        /// RTSP and HTTP: the request line, and what the Authorization header holds, decoded. It asks for Basic first.
        case text
        /// ffmpeg as a listener of RTMP: application and stream, each as a line.
        case rtmp
        /// RTMP with Adobe's authentication: the user, and whether the password is right.
        case rtmpWithPassword(String)
        /// GStreamer as a listener of SRT: the stream identifier. What is encrypted with the passphrase comes through.
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

    /// Why it cannot run here; nil where it can.
    public static let missing = PeerProcess.missing(programs: ["ffmpeg"], typelibs: ["Gst"])

    /// What it has noted.
    public func lines() throws -> [String] {
        guard case .list(let lines)? = try process.send("report")["lines"] else { return [] }
        return lines.map(\.text)
    }

    /// How many bytes of media came through, with SRT.
    public func bytes() throws -> Int { try process.send("report")["bytes"]?.int ?? 0 }

    /// Ends the server at once.
    public func stop() { process.stop() }
}

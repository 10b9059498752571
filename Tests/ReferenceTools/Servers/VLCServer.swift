/// VLC as a second RTSP server, which repeats a file.
public final class VLCServer: Sendable {
    /// The process, for its log.
    public let process: PeerProcess
    /// The port that it listens on.
    public let port: Int
    /// The URL of the stream.
    public let url: String

    /// Starts VLC and waits until it describes its stream.
    ///
    /// - Parameter isTransportStream: whether it sends an MPEG transport stream. The default is false.
    /// - Throws: ``PeerProcess/Failure``.
    public init(file: String, isTransportStream: Bool = false) throws {
        process = try PeerProcess("vlc-server.py", ["--file", file, "--mux", isTransportStream ? "ts" : "none"])
        port = process.ready["port"]?.int ?? 0
        url = process.ready["url"]?.text ?? ""
    }

    /// The reason why this server cannot run here; nil if it can.
    public static let missing = PeerProcess.missing(programs: ["cvlc"])

    /// Ends the server at once.
    public func stop() { process.stop() }
}

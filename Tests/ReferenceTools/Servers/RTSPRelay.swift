/// An RTSP server to which the `ffmpeg` command has published a file. It forwards libavformat's RTP packets to readers
/// over TCP or UDP, to each from the first packet.
public final class RTSPRelay: Sendable {
    /// The process, for its log.
    public let process: PeerProcess
    /// The URL of the stream.
    public let url: String

    /// Starts a server and waits until ffmpeg has published the file.
    ///
    /// - Parameters:
    ///   - file: any file whose video fits into RTP without encoding.
    ///   - frameRate: pictures per second for the readers. The default is 100.
    /// - Throws: ``PeerProcess/Failure``.
    public init(file: String, frameRate: Int = 100) throws {
        process = try PeerProcess("rtsp-relay.py", ["--file", file, "--fps", "\(frameRate)"])
        url = process.ready["url"]?.text ?? ""
    }

    /// Ends the server at once.
    public func stop() { process.stop() }
}

/// An RTSP server to which the `ffmpeg` command has published a file, and which hands libavformat's RTP packets on to
/// readers over TCP or UDP, from the first one to each.
public final class RTSPRelay: Sendable {
    /// The process, for its log.
    public let process: PeerProcess
    /// The URL of the stream.
    public let url: String

    /// Starts a server and waits until ffmpeg has published the file.
    ///
    /// - Parameters:
    ///   - file: any file whose video can go into RTP as it is.
    ///   - frameRate: pictures per second that readers get. The default is 100.
    /// - Throws: ``PeerProcess/Failure``.
    public init(file: String, frameRate: Int = 100) throws {
        process = try PeerProcess("rtsp-relay.py", ["--file", file, "--fps", "\(frameRate)"])
        url = process.ready["url"]?.text ?? ""
    }

    /// Ends the server at once.
    public func stop() { process.stop() }
}

/// Motion JPEG over HTTP (multipart/x-mixed-replace) of live timecode pictures, as cameras serve it.
public final class MJPEGServer: Sendable {
    /// What the server is started with.
    public struct Options: Sendable {
        /// Whether each picture says its Content-Length; some cameras say none. The default is true.
        public var saysLength = true
        /// Who may watch, with ``password``.
        public var user = "camera"
        /// The default is nil: none is asked for.
        public var password: String?

        /// The defaults.
        public init() {}
    }

    /// The process, for its log and for commands that have no method here.
    public let process: PeerProcess
    /// The port that it listens on.
    public let port: Int
    /// The URL of the pictures.
    public let url: String

    /// Starts a server and waits until it has a picture.
    ///
    /// - Throws: ``PeerProcess/Failure``.
    public init(_ options: Options = Options()) throws {
        var arguments = ["--user=\(options.user)"]
        if !options.saysLength { arguments.append("--no-length") }
        if let password = options.password { arguments.append("--password=\(password)") }
        process = try PeerProcess("mjpeg-server.py", arguments)
        port = process.ready["port"]?.int ?? 0
        url = process.ready["url"]?.text ?? ""
    }

    /// Why this server cannot run here; nil where it can.
    public static let missing = PeerProcess.missing(programs: ["ffmpeg"])

    /// Sends no more pictures, with the connections left open.
    public func stopSending() throws { try process.send("stop") }

    /// Sends again, from now.
    public func resumeSending() throws { try process.send("resume") }

    /// Ends the server at once.
    public func stop() { process.stop() }
}

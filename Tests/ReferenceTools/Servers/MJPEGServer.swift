/// Motion JPEG over HTTP (multipart/x-mixed-replace) with live timecode pictures, as cameras serve it.
public final class MJPEGServer: Sendable {
    /// Options of the server.
    public struct Options: Sendable {
        /// Whether each picture has a Content-Length; some cameras omit it. The default is true.
        public var saysLength = true
        /// The user, with ``password``.
        public var user = "camera"
        /// The password. The default is nil: no authentication.
        public var password: String?

        /// The default options.
        public init() {}
    }

    /// The process, for its log and for commands without a method here.
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

    /// The reason why this server cannot run here; nil if it can.
    public static let missing = PeerProcess.missing(programs: ["ffmpeg"])

    /// Stops sending pictures but leaves the connections open.
    public func stopSending() throws { try process.send("stop") }

    /// Resumes with the current picture.
    public func resumeSending() throws { try process.send("resume") }

    /// Ends the server at once.
    public func stop() { process.stop() }
}

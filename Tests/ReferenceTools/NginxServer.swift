/// nginx that serves a file, and HLS made of it, or a folder, over HTTP or HTTPS.
public final class NginxServer: Sendable {
    /// What the server is started with.
    public struct Options: Sendable {
        /// What to serve: a file under its own name and cut into HLS without encoding, or a folder that holds HLS.
        public var file: String
        /// Whether it is a folder. The default is false.
        public var isFolder = false
        /// Whether it is HTTPS. The default is false.
        public var isTLS = false
        /// Whom the certificate is for. The default is `localhost`, which also covers 127.0.0.1; another does not fit.
        public var certificateName = "localhost"
        /// Whether the HLS goes on for ever, at the pace at which it plays. The default is false.
        public var isLive = false
        /// Who may read, with ``password``.
        public var user = "camera"
        /// The default is nil: none is asked for.
        public var password: String?

        /// The defaults, for a file.
        public init(file: String) { self.file = file }
    }

    /// The process, for its log and for commands that have no method here.
    public let process: PeerProcess
    /// The port that it listens on.
    public let port: Int
    /// The URL of the file.
    public let url: String
    /// The URL of the HLS playlist.
    public let playlist: String
    /// The certificate of the authority that vouches for the server, with TLS.
    public let authority: String?

    /// Starts a server and waits until it listens.
    ///
    /// - Throws: ``PeerProcess/Failure``.
    public init(_ options: Options) throws {
        var arguments = [
            options.isFolder ? "--folder" : "--file", options.file, "--certificate-name", options.certificateName,
            "--user=\(options.user)",
        ]
        if options.isTLS { arguments.append("--tls") }
        if options.isLive { arguments.append("--live") }
        if let password = options.password { arguments.append("--password=\(password)") }
        process = try PeerProcess("nginx-server.py", arguments)
        port = process.ready["port"]?.int ?? 0
        url = process.ready["url"]?.text ?? ""
        playlist = process.ready["hls"]?.text ?? ""
        authority = process.ready["ca"]?.text
    }

    /// A file over HTTP.
    public static func http(_ file: String) throws -> NginxServer { try NginxServer(Options(file: file)) }

    /// A file over HTTPS.
    public static func https(_ file: String) throws -> NginxServer {
        var options = Options(file: file)
        options.isTLS = true
        return try NginxServer(options)
    }

    /// A folder that holds HLS, over HTTP.
    public static func folder(_ path: String) throws -> NginxServer {
        var options = Options(file: path)
        options.isFolder = true
        return try NginxServer(options)
    }

    /// Why this server cannot run here; nil where it can.
    public static let missing = PeerProcess.missing(programs: ["nginx", "ffmpeg", "openssl"])

    /// The requests so far, each with its status.
    public func requests() throws -> [String] {
        guard case .list(let lines)? = try process.send("requests")["requests"] else { return [] }
        return lines.map(\.text)
    }

    /// Ends nginx at once, as a power cut would, when the newest segment has been sent and none is asked for, and
    /// starts it again at its port.
    public func restartBetweenSegments() throws {
        try process.send("restart between segments", within: .seconds(30))
    }

    /// Ends nginx at once, as a power cut would, whatever it is sending, and starts it again at its port.
    public func restart() throws { try process.send("restart", within: .seconds(30)) }

    /// Ends the server at once.
    public func stop() { process.stop() }
}

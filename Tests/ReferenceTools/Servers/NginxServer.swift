/// nginx that serves a file, HLS made from it, or a folder, over HTTP or HTTPS.
public final class NginxServer: Sendable {
    /// Options of the server.
    public struct Options: Sendable {
        /// A file, served under its own name and as HLS without encoding; or a folder of HLS.
        public var file: String
        /// Whether ``file`` is a folder. The default is false.
        public var isFolder = false
        /// Whether the server uses HTTPS. The default is false.
        public var isTLS = false
        /// The host name in the certificate. The default is `localhost`, which also covers 127.0.0.1; another name
        /// doesn't match.
        public var certificateName = "localhost"
        /// Whether the HLS is live: endless and in real time. The default is false.
        public var isLive = false
        /// The user, with ``password``.
        public var user = "camera"
        /// The password. The default is nil: no authentication.
        public var password: String?

        /// The default options for a file.
        public init(file: String) { self.file = file }
    }

    /// The process, for its log and for commands without a method here.
    public let process: PeerProcess
    /// The port that it listens on.
    public let port: Int
    /// The URL of the file.
    public let url: String
    /// The URL of the HLS playlist.
    public let playlist: String
    /// The certificate of the server's authority, with TLS.
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

    /// Starts a server of a file over HTTP.
    public static func http(_ file: String) throws -> NginxServer { try NginxServer(Options(file: file)) }

    /// Starts a server of a file over HTTPS.
    public static func https(_ file: String) throws -> NginxServer {
        var options = Options(file: file)
        options.isTLS = true
        return try NginxServer(options)
    }

    /// Starts a server of an HLS folder over HTTP.
    public static func folder(_ path: String) throws -> NginxServer {
        var options = Options(file: path)
        options.isFolder = true
        return try NginxServer(options)
    }

    /// The reason why this server cannot run here; nil if it can.
    public static let missing = PeerProcess.missing(programs: ["nginx", "ffmpeg", "openssl"])

    /// Returns the requests so far, each with its status.
    public func requests() throws -> [String] {
        guard case .list(let lines)? = try process.send("requests")["requests"] else { return [] }
        return lines.map(\.text)
    }

    /// Kills nginx between two segments, like a power cut, and restarts it at its port. It waits until the newest
    /// segment was sent and there is no request.
    public func restartBetweenSegments() throws {
        try process.send("restart between segments", within: .seconds(30))
    }

    /// Kills nginx at any moment, like a power cut, and restarts it at its port.
    public func restart() throws { try process.send("restart", within: .seconds(30)) }

    /// Ends the server at once.
    public func stop() { process.stop() }
}

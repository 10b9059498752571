import Foundation
public import InletCore

/// An RTSP server on 127.0.0.1 (gst-rtsp-server) that sends live timecode pictures or a file.
public final class RTSPServer: Sendable {
    /// The codec of the pictures.
    public enum Codec: String, Sendable, CaseIterable { case h264, h265, mjpeg, vp8, vp9 }
    /// The server's authentication.
    public enum Authentication: String, Sendable, CaseIterable { case none, basic, digest }
    /// The accepted transports; `all` is TCP, UDP and the HTTP tunnel.
    public enum Transport: String, Sendable, CaseIterable { case tcp, udp, multicast, all }

    /// Options of the server.
    public struct Options: Sendable {
        /// The codec. The default is H.264. With a ``file`` the file's codec applies.
        public var codec = Codec.h264
        /// The size of live pictures. The default is 640x480.
        public var size = ImageSize(width: 640, height: 480)
        /// The rate of live pictures. The default is 30.
        public var frameRate = Rational(30)
        /// The number of live frames between key frames. The default is 30.
        public var keyFrameInterval = 30
        /// The number of B-frames between two other frames; H.264 only. The default is 0.
        public var bFrames = 0
        /// Whether intra refresh replaces key frames: each part of the picture is refreshed once in
        /// ``keyFrameInterval``. H.264 only. The default is false.
        public var isRefreshing = false
        /// Whether a client may request a key frame by RTCP (RFC 4585, profile AVPF). The default is false.
        public var takesKeyFrameRequests = false
        /// The milliseconds for which the server keeps packets to resend them on request (RFC 4588), with
        /// ``takesKeyFrameRequests``. The default is 0: no retransmission.
        public var retransmissionTime = 0
        /// The MP4 or Matroska file (`.mkv`) to send without encoding, from its start for each client. The default is
        /// nil: live pictures.
        public var file: String?
        /// Whether the pictures are in an MPEG transport stream; H.264 and H.265 only. The default is false.
        public var isTransportStream = false
        /// The accepted transports. The default is ``Transport/all``.
        public var transport = Transport.all
        /// The authentication. The default is ``Authentication/none``.
        public var authentication = Authentication.none
        /// The user, with ``authentication``.
        public var user = "camera"
        /// The password, with ``authentication``.
        public var password = "secret"
        /// Whether the URL's scheme is `rtsps:`. The default is false.
        public var isTLS = false
        /// The host name in the certificate. The default is `localhost`, which also covers 127.0.0.1; another name
        /// doesn't match.
        public var certificateName = "localhost"
        /// The port. The default is 0: any free port.
        public var port = 0
        /// The number of seconds without a sign of life after which a session ends. The default is 60.
        public var sessionTimeout = 60
        /// Whether the server runs in a separate network, linked with its clients' network, ``RTSPServer/clients``.
        /// Needs ``NetworkNamespace/isAvailable``. The default is false.
        public var isIsolated = false
        /// The maximum packet size in the isolated network, in bytes. The default is 1500.
        public var largestPacket = 1500
        /// A file that gets a line for each live frame: its number, and the CLOCK_MONOTONIC nanoseconds when it was
        /// drawn and when it was sent.
        public var sendLog: String?

        /// The default options.
        public init() {}

        /// Options for live pictures, with defaults for all others.
        public init(size: ImageSize, frameRate: Rational, keyFrameInterval: Int) {
            (self.size, self.frameRate, self.keyFrameInterval) = (size, frameRate, keyFrameInterval)
        }
    }

    /// The process, for its log and for commands without a method here.
    public let process: PeerProcess
    /// The URL without credentials.
    public let url: String
    /// The port that it listens on.
    public let port: Int
    /// The clients' network if the server is isolated. There the link to the server is called `client`, and the server
    /// has the addresses 10.77.0.1 and fe80::77:1.
    public let clients: NetworkNamespace?
    /// The certificate of the server's authority, with TLS.
    public let authority: String?

    /// Starts a server and waits until it listens.
    ///
    /// - Throws: ``PeerProcess/Failure``.
    public init(_ options: Options = Options()) throws {
        var arguments = [
            "--codec", options.codec.rawValue, "--size", "\(options.size.width)x\(options.size.height)",
            "--fps", "\(options.frameRate.numerator)/\(options.frameRate.denominator)",
            "--gop", "\(options.keyFrameInterval)", "--bframes", "\(options.bFrames)",
            "--transport", options.transport.rawValue, "--auth", options.authentication.rawValue,
            "--user=\(options.user)", "--password=\(options.password)", "--port", "\(options.port)",
            "--certificate-name", options.certificateName, "--session-timeout", "\(options.sessionTimeout)",
        ]
        if let file = options.file { arguments += ["--file", file] }
        if let log = options.sendLog { arguments += ["--send-log", log] }
        if options.isTransportStream { arguments += ["--mux", "ts"] }
        if options.isTLS { arguments.append("--tls") }
        if options.isRefreshing { arguments.append("--refresh") }
        if options.isIsolated { arguments += ["--isolated", "--mtu", "\(options.largestPacket)"] }
        if options.takesKeyFrameRequests { arguments.append("--feedback") }
        if options.retransmissionTime > 0 { arguments += ["--retransmission", "\(options.retransmissionTime)"] }
        process = try PeerProcess("rtsp-server.py", arguments)
        url = process.ready["url"]?.text ?? ""
        port = process.ready["port"]?.int ?? 0
        authority = process.ready["ca"]?.text
        clients = process.ready["clients"]?.int.map { NetworkNamespace(of: $0) }
    }

    /// Starts a live camera.
    public static func live(_ codec: Codec = .h264) throws -> RTSPServer {
        var options = Options()
        options.codec = codec
        return try RTSPServer(options)
    }

    /// Starts a server that sends a file unchanged.
    public static func file(_ path: String) throws -> RTSPServer {
        var options = Options()
        options.file = path
        return try RTSPServer(options)
    }

    /// The reason why this server cannot run here; nil if it can.
    public static let missing = PeerProcess.missing(programs: ["ffprobe", "openssl"], typelibs: ["GstRtspServer"])

    /// Closes every connection. The server continues.
    public func killConnections() throws { try process.send("kill") }

    /// Drops every session, so that a client's next request gets 454.
    public func expireSessions() throws { try process.send("expire") }

    /// Stops sending pictures but leaves the connections open.
    public func stopSending() throws { try process.send("stop") }

    /// Resumes sending: live pictures from now, a file where it stopped.
    public func resumeSending() throws { try process.send("resume") }

    /// Changes the live pictures for the next connection.
    public func change(codec: Codec? = nil, size: ImageSize? = nil) throws {
        var changes: PeerMessage = [:]
        if let codec { changes["codec"] = .string(codec.rawValue) }
        if let size { changes["size"] = .string("\(size.width)x\(size.height)") }
        try process.send("set", changes)
    }

    /// Returns the numbers of clients, sessions, sent frames, requests by method, and key frame requests to the
    /// encoder.
    public func report() throws -> PeerMessage { try process.send("report") }

    /// Returns the number of TEARDOWN requests, after the first has come. A closed source sends TEARDOWN without
    /// waiting for the answer, so the server may read it later.
    ///
    /// - Throws: ``Waiting/NeverCame`` if none comes.
    public func teardowns() async throws -> Int {
        func count() throws -> Int { try report()["requests"]?["teardown"]?.int ?? 0 }
        try await Waiting.until("a TEARDOWN", progress: count) { try count() > 0 }
        return try count()
    }

    /// Ends the server at once.
    public func stop() { process.stop() }
}

import Foundation
public import InletCore

/// An RTSP server on 127.0.0.1 (gst-rtsp-server) that sends live timecode pictures or a file.
public final class RTSPServer: Sendable {
    /// What the pictures are encoded with.
    public enum Codec: String, Sendable, CaseIterable { case h264, h265, mjpeg, vp8, vp9 }
    /// How the server asks who is there.
    public enum Authentication: String, Sendable, CaseIterable { case none, basic, digest }
    /// What the server agrees to; `all` is TCP, UDP and the HTTP tunnel.
    public enum Transport: String, Sendable, CaseIterable { case tcp, udp, multicast, all }

    /// What the server is started with.
    public struct Options: Sendable {
        /// The default is H.264. With a ``file`` its own codec counts.
        public var codec = Codec.h264
        /// Of live pictures. The default is 640x480.
        public var size = ImageSize(width: 640, height: 480)
        /// Of live pictures. The default is 30.
        public var frameRate = Rational(30)
        /// Live frames from one key frame to the next. The default is 30.
        public var keyFrameInterval = 30
        /// B-frames between two others; H.264 only. The default is 0.
        public var bFrames = 0
        /// Whether a piece of each picture refreshes itself, once in ``keyFrameInterval``, in place of key frames;
        /// H.264 only. The default is false.
        public var isRefreshing = false
        /// Whether a client may ask for a key frame by RTCP (RFC 4585, profile AVPF). The default is false.
        public var takesKeyFrameRequests = false
        /// The milliseconds for which packets are kept and sent again on request (RFC 4588), with
        /// ``takesKeyFrameRequests``. The default is 0: none is sent again.
        public var retransmissionTime = 0
        /// The MP4 or Matroska file (`.mkv`) to send as it is, without encoding, from its start for each client. The
        /// default is nil: live pictures.
        public var file: String?
        /// Whether the pictures are in an MPEG transport stream; H.264 and H.265 only. The default is false.
        public var isTransportStream = false
        /// The default is ``Transport/all``.
        public var transport = Transport.all
        /// The default is ``Authentication/none``.
        public var authentication = Authentication.none
        /// Who may watch, with ``authentication``.
        public var user = "camera"
        /// With ``authentication``.
        public var password = "secret"
        /// Whether the URL is `rtsps:`. The default is false.
        public var isTLS = false
        /// Whom the certificate is for. The default is `localhost`, which also covers 127.0.0.1; another does not fit.
        public var certificateName = "localhost"
        /// The port. The default is 0: a free one.
        public var port = 0
        /// Seconds without a sign of life until a session ends. The default is 60.
        public var sessionTimeout = 60
        /// Whether the server is in a network of its own, linked with the one of its clients, ``RTSPServer/clients``.
        /// Needs ``NetworkNamespace/isAvailable``. The default is false.
        public var isIsolated = false
        /// The largest packet of the isolated network, in bytes. The default is 1500.
        public var largestPacket = 1500
        /// A file for a line a live frame: its number, and CLOCK_MONOTONIC nanoseconds when it was drawn and when it
        /// went out.
        public var sendLog: String?

        /// The defaults.
        public init() {}

        /// Live pictures; all else has its default.
        public init(size: ImageSize, frameRate: Rational, keyFrameInterval: Int) {
            (self.size, self.frameRate, self.keyFrameInterval) = (size, frameRate, keyFrameInterval)
        }
    }

    /// The process, for its log and for commands that have no method here.
    public let process: PeerProcess
    /// The URL without credentials.
    public let url: String
    /// The port that it listens on.
    public let port: Int
    /// The network of the clients, where the server is isolated. There the link to the server is called `client`, and
    /// the server has the addresses 10.77.0.1 and fe80::77:1.
    public let clients: NetworkNamespace?
    /// The certificate of the authority that vouches for the server, with TLS.
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

    /// A live camera.
    public static func live(_ codec: Codec = .h264) throws -> RTSPServer {
        var options = Options()
        options.codec = codec
        return try RTSPServer(options)
    }

    /// A file, sent as it is.
    public static func file(_ path: String) throws -> RTSPServer {
        var options = Options()
        options.file = path
        return try RTSPServer(options)
    }

    /// Why this server cannot run here; nil where it can.
    public static let missing = PeerProcess.missing(programs: ["ffprobe", "openssl"], typelibs: ["GstRtspServer"])

    /// Closes every connection. The server goes on.
    public func killConnections() throws { try process.send("kill") }

    /// Forgets every session, so that the next request of a client is answered with 454.
    public func expireSessions() throws { try process.send("expire") }

    /// Sends no more pictures, with the connections left open.
    public func stopSending() throws { try process.send("stop") }

    /// Sends again: live pictures from now, a file from where it stopped.
    public func resumeSending() throws { try process.send("resume") }

    /// Makes the next connection get other live pictures.
    public func change(codec: Codec? = nil, size: ImageSize? = nil) throws {
        var changes: PeerMessage = [:]
        if let codec { changes["codec"] = .string(codec.rawValue) }
        if let size { changes["size"] = .string("\(size.width)x\(size.height)") }
        try process.send("set", changes)
    }

    /// Clients, sessions, frames sent, requests by method, and requests for key frames that the encoder got.
    public func report() throws -> PeerMessage { try process.send("report") }

    /// How many TEARDOWN requests the server has read, once there is one. A source that is closed sends its own and
    /// does not wait for an answer, so the server may still have to read it then.
    ///
    /// - Throws: ``Waiting/NeverCame`` where none comes.
    public func teardowns() async throws -> Int {
        func count() throws -> Int { try report()["requests"]?["teardown"]?.int ?? 0 }
        try await Waiting.until("a TEARDOWN", progress: count) { try count() > 0 }
        return try count()
    }

    /// Ends the server at once.
    public func stop() { process.stop() }
}

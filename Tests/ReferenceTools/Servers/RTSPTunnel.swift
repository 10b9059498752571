import Foundation

/// A gate in front of an RTSP server, which clients can pass only by HTTP or only by WebSocket.
public final class RTSPTunnel: Sendable {
    /// The kinds of gates.
    public enum Kind: String, Sendable, CaseIterable {
        /// A proxy for a server that supports the HTTP tunnel itself.
        case http
        /// nginx as such a proxy; Basic only.
        case nginx
        /// A WebSocket in Python's standard library. It sends fragments, and pings between them.
        case websocket
        /// A WebSocket of aiohttp, if it is installed; see ``python``.
        case aiohttp
    }

    /// Options of the gate.
    public struct Options: Sendable {
        public var kind: Kind
        /// The authentication. The default is ``RTSPServer/Authentication/none``.
        public var authentication = RTSPServer.Authentication.none
        /// The only method whose requests need credentials. The default is nil: all methods.
        public var protectedMethod: String?
        public var user = "camera"
        public var password = "secret"
        /// Whether clients connect by TLS. The default is false.
        public var isTLS = false
        /// Whether each POST ends after one message; for ``Kind/http``. The default is false.
        public var endsPosts = false

        public init(_ kind: Kind) { self.kind = kind }
    }

    /// The requests and WebSocket events so far.
    public struct Report: Sendable {
        /// `METHOD PATH SCHEME` of each request; for nginx `METHOD PATH VERSION STATUS USER`.
        public var requests: [String]
        /// The numbers of sent and of answered pings.
        public var pings: Int
        public var pongs: Int
        /// The status codes of WebSockets that clients closed.
        public var closes: [Int]
    }

    /// The process, for its log.
    public let process: PeerProcess
    /// The port that it listens on.
    public let port: Int
    /// The address of the server's stream through the gate.
    public let url: String
    /// The certificate of the gate's authority, with TLS.
    public let authority: String?

    /// The interpreter with aiohttp from the environment of `Scripts/bootstrap --test --webrtc`; nil if it isn't
    /// installed.
    public static let python: String? =
        FileManager.default.isExecutableFile(atPath: PeerProcess.python) ? PeerProcess.python : nil

    /// Starts a gate and waits until it listens.
    ///
    /// - Throws: ``PeerProcess/Failure``.
    public convenience init(to server: RTSPServer, _ options: Options) throws {
        try self.init(toPort: server.port, options)
    }

    /// Starts a gate to the server at a port of 127.0.0.1 and waits until the gate listens.
    ///
    /// - Throws: ``PeerProcess/Failure``.
    public init(toPort port: Int, _ options: Options) throws {
        var arguments = [
            "--kind", options.kind.rawValue, "--to", "\(port)", "--auth", options.authentication.rawValue,
            "--user=\(options.user)", "--password=\(options.password)",
        ]
        if let method = options.protectedMethod { arguments += ["--only", method] }
        if options.isTLS { arguments.append("--tls") }
        if options.endsPosts { arguments.append("--one-message") }
        let python = options.kind == .aiohttp ? Self.python : nil
        process = try PeerProcess("rtsp-tunnel.py", arguments, python: python ?? "/usr/bin/python3")
        self.port = process.ready["port"]?.int ?? 0
        url = "\(options.isTLS ? "rtsps" : "rtsp")://127.0.0.1:\(self.port)/stream"
        authority = process.ready["ca"]?.text
    }

    /// Returns the requests and WebSocket events so far.
    public func report() throws -> Report {
        let message = try process.send("report")
        var report = Report(
            requests: [], pings: message["pings"]?.int ?? 0, pongs: message["pongs"]?.int ?? 0, closes: [])
        if case .list(let lines)? = message["requests"] { report.requests = lines.map(\.text) }
        if case .list(let codes)? = message["closes"] { report.closes = codes.compactMap(\.int) }
        return report
    }
}

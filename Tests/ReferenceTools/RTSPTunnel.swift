import Foundation

/// A gate in front of an RTSP server that lets clients in by HTTP or by WebSocket alone.
public final class RTSPTunnel: Sendable {
    /// What the gate is.
    public enum Kind: String, Sendable, CaseIterable {
        /// A proxy for a server that has the HTTP tunnel itself.
        case http
        /// nginx as such a proxy; Basic only.
        case nginx
        /// A WebSocket by Python's standard library, which sends fragments, and pings between them.
        case websocket
        /// A WebSocket by aiohttp, where it is installed; see ``python``.
        case aiohttp
    }

    /// What the gate is started with.
    public struct Options: Sendable {
        public var kind: Kind
        /// The default is ``RTSPServer/Authentication/none``.
        public var authentication = RTSPServer.Authentication.none
        /// The method whose requests alone need credentials. The default, nil, is all.
        public var protectedMethod: String?
        public var user = "camera"
        public var password = "secret"
        /// Whether clients come by TLS. The default is false.
        public var isTLS = false
        /// Whether each POST is ended after one message; for ``Kind/http``. The default is false.
        public var endsPosts = false

        public init(_ kind: Kind) { self.kind = kind }
    }

    /// What the gate has seen.
    public struct Report: Sendable {
        /// `METHOD PATH SCHEME` of each request; of nginx `METHOD PATH VERSION STATUS USER`.
        public var requests: [String]
        /// Pings that were sent, and those that were answered.
        public var pings: Int
        public var pongs: Int
        /// The status codes with which clients closed WebSockets.
        public var closes: [Int]
    }

    /// The process, for its log.
    public let process: PeerProcess
    /// The port that it listens on.
    public let port: Int
    /// The address of the server's stream through the gate.
    public let url: String
    /// The certificate of the authority that vouches for the gate, with TLS.
    public let authority: String?

    /// The interpreter that has aiohttp, of the environment that `Scripts/bootstrap --test --webrtc` makes; nil if
    /// there is none.
    public static let python: String? = {
        let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../..").standardizedFileURL
        let path = root.appendingPathComponent(".build/peers/bin/python").path
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }()

    /// Starts a gate and waits until it listens.
    ///
    /// - Throws: ``PeerProcess/Failure``.
    public convenience init(to server: RTSPServer, _ options: Options) throws {
        try self.init(toPort: server.port, options)
    }

    /// Starts a gate to a server that listens at a port of 127.0.0.1, and waits until it listens itself.
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

    /// What the gate has seen so far.
    public func report() throws -> Report {
        let message = try process.send("report")
        var report = Report(
            requests: [], pings: message["pings"]?.int ?? 0, pongs: message["pongs"]?.int ?? 0, closes: [])
        if case .list(let lines)? = message["requests"] { report.requests = lines.map(\.text) }
        if case .list(let codes)? = message["closes"] { report.closes = codes.compactMap(\.int) }
        return report
    }
}

/// An aiortc media server that accepts WHIP at two ports, as two sites, and reads frame numbers.
public final class WHIPServer: Sendable {
    /// The requests, pictures and sessions so far.
    public struct Report: Sendable {
        /// `METHOD SITE/PATH AUTHORIZATION`.
        public var requests: [String]
        /// The number of frame numbers that were read.
        public var count: Int
        /// The number of pictures without a frame number.
        public var unread: Int
        /// The number of opened sessions.
        public var sessions: Int
        /// The number of sessions that were not deleted.
        public var open: Int
        /// The size of the last picture.
        public var size: String
        /// Whether each number was greater than the previous one.
        public var rises: Bool
        /// The data channels that publishers opened: `label`, `ordered`, `maxRetransmits` and `maxPacketLifeTime`.
        public var channels: [PeerValue]
        /// The messages on the server's own data channel; for a binary message its length.
        public var heard: [PeerValue]

        init(_ message: PeerMessage) {
            if case .list(let lines)? = message["requests"] { requests = lines.map(\.text) } else { requests = [] }
            count = message["count"]?.int ?? 0
            unread = message["unread"]?.int ?? 0
            sessions = message["sessions"]?.int ?? 0
            open = message["open"]?.int ?? 0
            size = message["size"]?.text ?? ""
            rises = message["rises"] == .bool(true)
            if case .list(let found)? = message["channels"] { channels = found } else { channels = [] }
            if case .list(let found)? = message["heard"] { heard = found } else { heard = [] }
        }
    }

    /// The process, for its log.
    public let process: PeerProcess
    /// The port of the first site.
    public let port: Int
    /// The first site, without a path.
    public var address: String { "\(isTLS ? "https" : "http")://127.0.0.1:\(port)" }
    private let isTLS: Bool

    /// Starts a server and waits until it listens.
    ///
    /// - Parameters:
    ///   - python: an interpreter with aiortc.
    ///   - port: the port of an earlier server; 0 for a free port.
    ///   - isTLS: whether the server uses HTTPS, with a certificate from an untrusted authority.
    ///   - slices: an H.264 file whose slices the server compares with the received ones. The default is nil: no
    ///     comparison.
    /// - Throws: ``PeerProcess/Failure``.
    public init(
        python: String, port: Int = 0, token: String? = nil, link: String? = nil, isTLS: Bool = false,
        slices: String? = nil
    ) throws {
        var arguments = ["--port", "\(port)"]
        if let token { arguments += ["--token", token] }
        if let link { arguments += ["--link", link] }
        if isTLS { arguments.append("--tls") }
        if let slices { arguments += ["--slices", slices] }
        self.isTLS = isTLS
        process = try PeerProcess("whip-server.py", arguments, python: python)
        self.port = process.ready["port"]?.int ?? 0
    }

    /// Returns a report after this number of further pictures, or after half a minute.
    public func pictures(_ count: Int) throws -> Report {
        Report(try process.send("wait", ["count": .number(Double(count))], within: .seconds(30)))
    }

    /// Returns a report after a request with this text, or after half a minute.
    public func requested(_ text: String) throws -> Report {
        Report(try process.send("requested", ["text": .string(text)], within: .seconds(30)))
    }

    /// Returns a report of the requests, pictures and sessions so far.
    public func report() throws -> Report { Report(try process.send("report")) }

    /// Kills the server, like a power cut.
    public func stop() { process.stop() }
}

/// A media server that takes WHIP, by aiortc, at two ports as two sites, and reads frame numbers.
public final class WHIPServer: Sendable {
    /// What it has seen.
    public struct Report: Sendable {
        /// `METHOD SITE/PATH AUTHORIZATION`.
        public var requests: [String]
        /// Frame numbers that were read.
        public var count: Int
        /// Pictures without one.
        public var unread: Int
        /// Sessions that were opened.
        public var sessions: Int
        /// Those that were not deleted.
        public var open: Int
        /// Of the last picture.
        public var size: String
        /// Whether each number was greater than the one before.
        public var rises: Bool
        /// The data channels that publishers opened: `label`, `ordered`, `maxRetransmits` and `maxPacketLifeTime`.
        public var channels: [PeerValue]
        /// The messages over the server's own data channel; of bytes their number.
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
    ///   - python: an interpreter that has aiortc.
    ///   - port: where an earlier one was; 0 takes a free one.
    ///   - isTLS: whether it speaks HTTPS, with a certificate by an authority that nobody knows.
    ///   - slices: a file of H.264 whose slices it compares with those that come. The default is none.
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

    /// What it has seen when so many further pictures were read, or half a minute later.
    public func pictures(_ count: Int) throws -> Report {
        Report(try process.send("wait", ["count": .number(Double(count))], within: .seconds(30)))
    }

    /// What it has seen when a request with this text has come, or half a minute later.
    public func requested(_ text: String) throws -> Report {
        Report(try process.send("requested", ["text": .string(text)], within: .seconds(30)))
    }

    /// What it has seen.
    public func report() throws -> Report { Report(try process.send("report")) }

    /// Ends the server at once, as a power cut would.
    public func stop() { process.stop() }
}

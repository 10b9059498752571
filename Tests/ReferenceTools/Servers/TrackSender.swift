/// Sends the pictures of `pattern:timecode` by WebRTC with aiortc: as a WHEP server, or as a publisher to a WHIP
/// server.
public final class TrackSender: Sendable {
    /// The role of the sender.
    public enum Role: String, Sendable { case serve, publish }

    /// The requests and states so far.
    public struct Report: Sendable {
        /// `METHOD PATH AUTHORIZATION` of a server; `STATUS REASON` of a publisher.
        public var requests: [String]
        /// The number of sessions that were not ended by WHIP or WHEP.
        public var open: Int
        /// The states of its connections, in order.
        public var states: [String]
        /// The events of a publisher's data channels, in order: `LABEL EVENT`, where the event is `open`, `close`, a
        /// text message, or the length of a binary message.
        public var told: [String]
    }

    /// The process, for its log.
    public let process: PeerProcess
    /// The port of the server.
    public let port: Int
    /// The server's endpoint.
    public var endpoint: String { "whep+http://127.0.0.1:\(port)/whep" }

    /// - Parameters:
    ///   - python: an interpreter with aiortc.
    ///   - port: the port of an earlier server. The default, 0, selects a free port.
    ///   - token: the token that the server requires or the publisher sends.
    ///   - codec: `H264` or `VP8`. The default is H.264.
    ///   - hasAudio: whether a publisher also offers sound. The default is false.
    ///   - channels: the labels of data channels that a publisher opens. `lossy` doesn't retransmit. The default is an
    ///     empty list.
    /// - Throws: ``PeerProcess/Failure``.
    public init(
        _ role: Role, python: String, port: Int = 0, token: String? = nil, codec: String = "H264",
        hasAudio: Bool = false, channels: [String] = []
    ) throws {
        var arguments = [role.rawValue, "--port", "\(port)", "--codec", codec]
        if let token { arguments += ["--token", token] }
        if hasAudio { arguments.append("--audio") }
        for channel in channels { arguments += ["--channel", channel] }
        process = try PeerProcess("track-sender.py", arguments, python: python)
        self.port = process.ready["port"]?.int ?? 0
    }

    /// Publishes to an address.
    ///
    /// - Returns: the status of the answer.
    public func publish(to url: String) throws -> Int {
        try process.send("publish", ["url": .string(url)], within: .seconds(40))["status"]?.int ?? 0
    }

    /// Makes a publisher open another data channel in its latest session.
    public func open(_ label: String) throws {
        _ = try process.send("open", ["label": .string(label)], within: .seconds(40))
    }

    /// Makes a publisher send a text over the data channel with this label.
    public func say(_ text: String, over label: String) throws {
        _ = try process.send("say", ["label": .string(label), "body": .string(text)], within: .seconds(40))
    }

    /// Makes a publisher send this number of bytes over the data channel with this label.
    ///
    /// - Parameter isForced: whether to ignore the maximum length in the answer. The default is false.
    /// - Throws: ``PeerProcess/Failure``, for example because the message exceeds that length.
    public func say(bytes: Int, over label: String, isForced: Bool = false) throws {
        _ = try process.send(
            "say", ["label": .string(label), "body": .number(Double(bytes)), "isForced": .bool(isForced)],
            within: .seconds(40))
    }

    /// Ends the publisher's sessions as defined by WHIP.
    public func leave() throws { _ = try process.send("leave", within: .seconds(40)) }

    /// Pauses or resumes the pictures.
    public func pause(_ isPaused: Bool) throws { _ = try process.send("pause", ["isPaused": .bool(isPaused)]) }

    /// Returns the requests and states so far.
    public func report() throws -> Report {
        let message = try process.send("report")
        func lines(_ key: String) -> [String] {
            if case .list(let lines)? = message[key] { lines.map(\.text) } else { [] }
        }
        var told: [String] = []
        if case .list(let events)? = message["told"] {
            for case .list(let words) in events {
                told.append(words.map { word in word.int.map { "\($0)" } ?? word.text }.joined(separator: " "))
            }
        }
        return Report(
            requests: lines("requests"), open: message["open"]?.int ?? 0, states: lines("states"), told: told)
    }

    /// Kills the sender, like a power cut.
    public func stop() { process.stop() }
}

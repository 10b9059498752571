package import InletCore

/// A message from a peer over a data channel.
public struct PeerMessage: Sendable, Hashable {
    /// The name of the peer's session, which addresses a reply.
    public var peer: String
    /// The label of the channel.
    public var channel: String
    /// The content of the message.
    public var body: Body

    public init(peer: String, channel: String, body: Body) {
        self.peer = peer
        self.channel = channel
        self.body = body
    }

    /// The content of a message.
    public enum Body: Sendable, Hashable {
        /// UTF-8; a string in a browser.
        case text(String)
        /// Bytes; an `ArrayBuffer` in a browser.
        case binary([UInt8])

        /// The size in bytes.
        public var count: Int {
            switch self {
            case .text(let text): text.utf8.count
            case .binary(let bytes): bytes.count
            }
        }
    }
}

/// The limits on one peer's use of this side's memory by its data channels.
public struct DataChannelLimits: Sendable, Hashable {
    /// The maximum size of a message in bytes, from 1 to 262,144. The default is 262,144, as in Chromium.
    ///
    /// A message to a peer has at most the lesser of this and what the peer's description states (`a=max-message-size`,
    /// RFC 8841; 65,536 if it states nothing). A message from a peer has at most the lesser of this and 65,536, which
    /// this side's descriptions state: the engine cannot tell the parts of longer ones from messages.
    public var messageBytes = 262_144
    /// The maximum number of bytes that wait to be sent on one channel. Beyond that, a message is dropped; a channel
    /// that loses nothing is closed, because it would have a gap. The default is 1,048,576.
    public var queuedBytes = 1_048_576
    /// The number of waiting bytes at which a channel counts as drained, after there were more:
    /// ``PeerSessionEvent/channelDrained(_:)`` reports it. The default is 65,536.
    public var drainedBytes = 65_536
    /// The maximum number of channels with one peer, whichever side opened them; more are closed. The default is 8.
    public var channels = 8
    /// The maximum length in bytes of a channel's label and of its protocol. The default is 128.
    public var labelBytes = 128

    /// The longest message that browsers accept in general.
    private static let longestMessage = 262_144
    /// The longest message that the engine receives whole: usrsctp's partial delivery point (RFC 6458, 8.1.21).
    private static let longestReceived = 65_536

    /// The maximum size in bytes of a message that is accepted.
    package var receivedBytes: Int { min(messageBytes, Self.longestReceived) }

    /// Creates limits with the default of each.
    public init() {}

    /// The number of a peer's messages that are kept for a reader that does not read: enough to fill the queues of all
    /// channels at once, and always from 16 to 1024.
    package var unreadMessages: Int {
        let (bytes, overflow) = queuedBytes.multipliedReportingOverflow(by: max(1, channels))
        return min(1024, max(16, (overflow ? .max : bytes) / max(1, receivedBytes)))
    }

    /// Checks a message, which may be empty.
    ///
    /// - Parameter accepted: the maximum size in bytes of a message that the peer accepts; nil if that is unknown.
    /// - Throws: ``InletError/Code/resourceExhausted`` for a message that is too long for this side or for the peer.
    package func check(_ body: PeerMessage.Body, accepted: Int? = nil) throws(InletError) {
        guard body.count <= messageBytes else {
            throw InletError(
                .resourceExhausted,
                "A message has at most \(messageBytes) bytes, not \(body.count). Send it in parts.")
        }
        if let accepted, body.count > accepted {
            throw InletError(
                .resourceExhausted,
                "The peer accepts messages of at most \(accepted) bytes, not \(body.count). Send it in parts.")
        }
    }

    /// Checks the limits, and channels against them.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for limits that contradict each other, and for channels that
    ///   they forbid or that cannot be distinguished.
    package func validate(opening parameters: [DataChannelParameters] = []) throws(InletError) {
        guard queuedBytes >= messageBytes, channels >= 0, drainedBytes >= 0 else {
            throw InletError(.invalidConfiguration, "As many bytes may wait as a message has at most, or more.")
        }
        guard (1...Self.longestMessage).contains(messageBytes) else {
            throw InletError(
                .invalidConfiguration,
                "A message has at most 1 to \(Self.longestMessage) bytes, not \(messageBytes).")
        }
        for each in parameters { try each.delivery.validate() }
        guard Set(parameters).count == parameters.count else {
            throw InletError(.invalidConfiguration, "Two data channels have one label and one delivery.")
        }
        guard parameters.count <= channels else {
            throw InletError(
                .invalidConfiguration, "A peer has at most \(channels) data channels, not \(parameters.count).")
        }
        if let long = parameters.first(where: { $0.label.utf8.count > labelBytes }) {
            throw InletError(
                .invalidConfiguration,
                "The label of a data channel has at most \(labelBytes) bytes, not \(long.label.utf8.count).")
        }
    }
}

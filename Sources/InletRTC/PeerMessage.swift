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

/// What a data channel guarantees about its messages.
public enum DataDelivery: String, Sendable, Hashable, CaseIterable {
    /// Every message arrives, in order: for messages that must not be lost.
    case ordered
    /// Messages arrive soon or not at all, in any order: for messages that the next one makes obsolete.
    case lossy
}

/// A data channel that this side opens with each of its offers.
public struct DataChannelParameters: Sendable, Hashable {
    /// The name of the channel for both sides.
    public var label: String
    /// The delivery guarantee. The default is ``DataDelivery/ordered``.
    public var delivery: DataDelivery

    public init(_ label: String, _ delivery: DataDelivery = .ordered) {
        self.label = label
        self.delivery = delivery
    }
}

/// The limits on one peer's use of this side's memory by its data channels.
public struct DataChannelLimits: Sendable, Hashable {
    /// The most bytes of a message, in either direction. The default is 65536, which every browser accepts in one
    /// piece.
    public var messageBytes = 65_536
    /// The most bytes that wait to be sent on one channel. Beyond that, a lossy message is dropped and an ordered
    /// channel is closed, as it would have a gap. The default is 1,048,576.
    public var queuedBytes = 1_048_576
    /// The most channels with one peer, whichever side opened them; more are closed. The default is 8.
    public var channels = 8
    /// The most bytes of a channel's label and of its protocol. The default is 128.
    public var labelBytes = 128

    /// Creates limits with the default of each.
    public init() {}

    /// The number of a peer's messages that are kept for a reader that does not read: enough to fill the queues of all
    /// channels at once, and always from 16 to 1024.
    package var unreadMessages: Int {
        let (bytes, overflow) = queuedBytes.multipliedReportingOverflow(by: max(1, channels))
        return min(1024, max(16, (overflow ? .max : bytes) / max(1, messageBytes)))
    }

    /// Checks a message.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` for a message that is too long.
    package func check(_ body: PeerMessage.Body) throws(InletError) {
        guard body.count <= messageBytes else {
            throw InletError(.resourceExhausted, "A message has at most \(messageBytes) bytes, not \(body.count).")
        }
    }

    /// Checks the limits, and channels against them.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for limits that contradict each other, and for channels that
    ///   they forbid or that cannot be told apart.
    package func validate(opening parameters: [DataChannelParameters] = []) throws(InletError) {
        guard messageBytes > 0, queuedBytes >= messageBytes, channels >= 0 else {
            throw InletError(.invalidConfiguration, "As many bytes may wait as a message has at most, or more.")
        }
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

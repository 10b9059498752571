package import InletCore

/// What came from a peer over a data channel.
public struct PeerMessage: Sendable, Hashable {
    /// The name of the peer's session, by which it is answered.
    public var peer: String
    /// The label of the channel.
    public var channel: String
    /// What it says.
    public var body: Body

    public init(peer: String, channel: String, body: Body) {
        self.peer = peer
        self.channel = channel
        self.body = body
    }

    /// What a message says.
    public enum Body: Sendable, Hashable {
        /// UTF-8, a string for a browser.
        case text(String)
        /// Bytes, an `ArrayBuffer` for a browser.
        case binary([UInt8])

        /// Its size in bytes.
        public var count: Int {
            switch self {
            case .text(let text): text.utf8.count
            case .binary(let bytes): bytes.count
            }
        }
    }
}

/// What a data channel promises of its messages.
public enum DataDelivery: String, Sendable, Hashable, CaseIterable {
    /// Each comes, in order: for what must not be missed.
    case ordered
    /// Each comes soon or not at all, in any order: for what is out of date when the next one comes.
    case lossy
}

/// A data channel that this side opens with each of its offers.
public struct DataChannelParameters: Sendable, Hashable {
    /// Names it for both sides.
    public var label: String
    /// What it promises. The default is ``DataDelivery/ordered``.
    public var delivery: DataDelivery

    public init(_ label: String, _ delivery: DataDelivery = .ordered) {
        self.label = label
        self.delivery = delivery
    }
}

/// How much one peer may take of this side's memory by its data channels.
public struct DataChannelLimits: Sendable, Hashable {
    /// The most bytes of a message, either way. The default is 65536, which every browser takes whole.
    public var messageBytes = 65_536
    /// The most bytes that wait to be sent on one channel. Beyond, a lossy message is dropped; an ordered channel is
    /// closed, as it would have a hole. The default is 1,048,576.
    public var queuedBytes = 1_048_576
    /// The most channels with one peer, whoever opened them; more are closed. The default is 8.
    public var channels = 8
    /// The most bytes of a channel's label and of its protocol. The default is 128.
    public var labelBytes = 128

    /// The default of each.
    public init() {}

    /// Messages of a peer's that wait for one that does not read: what fills the queues of all channels at once, and 16
    /// to 1024 in any case.
    package var unreadMessages: Int {
        let (bytes, overflow) = queuedBytes.multipliedReportingOverflow(by: max(1, channels))
        return min(1024, max(16, (overflow ? .max : bytes) / max(1, messageBytes)))
    }

    /// - Throws: ``InletError/Code/resourceExhausted`` for a message that is too long.
    package func check(_ body: PeerMessage.Body) throws(InletError) {
        guard body.count <= messageBytes else {
            throw InletError(.resourceExhausted, "A message has at most \(messageBytes) bytes, not \(body.count).")
        }
    }

    /// - Throws: ``InletError/Code/invalidConfiguration`` for limits that contradict each other, and for channels that
    ///   they forbid or that nobody could tell apart.
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

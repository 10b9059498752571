public import InletCore

/// A session with one peer, whatever engine and signaling it has. Safe from any thread.
public protocol PeerSession: AnyObject, Sendable {
    /// How far it is.
    var state: PeerSessionState { get }
    /// What happens from now on, beginning with the present state; each caller gets a stream of its own, which ends
    /// with the session. A reader that is slow loses the oldest.
    func events() -> AsyncStream<PeerSessionEvent>
    /// Begins the flow anew, as when the network has changed. Nothing happens to a session that has ended.
    func restart()
    /// Ends the session; the peer is told. Returns at once.
    func close()
    /// What is known of it now.
    var statistics: PeerSessionStatistics { get }

    /// What the peer says over data channels from now on; each caller gets a stream of its own, which ends with the
    /// session. One that is not read keeps the newest, 1024 at most, of 8 MiB at most with the default
    /// ``DataChannelLimits``.
    func messages() -> AsyncStream<PeerMessage>
    /// Sends a message over a data channel that either side has opened: the first with this delivery and label. Returns
    /// at once.
    ///
    /// It is dropped, and counted, where no such channel is open: ``PeerSessionEvent/channelOpened(_:)`` says when one
    /// is. Where too much waits already (``DataChannelLimits/queuedBytes``), a lossy channel drops it, and an ordered
    /// one is closed, as it would have a hole; it comes back with the next offer.
    ///
    /// - Parameters:
    ///   - body: text or bytes.
    ///   - delivery: whether the channel keeps the order and loses nothing.
    ///   - label: of the channel; nil for any.
    /// - Throws: ``InletError/Code/resourceExhausted`` for a message that is too long, ``InletError/Code/unsupported``
    ///   for one that the engine cannot send.
    func send(_ body: PeerMessage.Body, over delivery: DataDelivery, labelled label: String?) throws(InletError)
}

extension PeerSession {
    /// Sends a message over the first ordered channel.
    public func send(_ body: PeerMessage.Body) throws(InletError) { try send(body, over: .ordered, labelled: nil) }

    /// Sends a message over the first ordered channel with this label.
    public func send(_ body: PeerMessage.Body, labelled label: String) throws(InletError) {
        try send(body, over: .ordered, labelled: label)
    }

    /// Sends a message over the first channel with this delivery.
    public func send(_ body: PeerMessage.Body, over delivery: DataDelivery) throws(InletError) {
        try send(body, over: delivery, labelled: nil)
    }
}

/// Something that happened to a session.
public enum PeerSessionEvent: Sendable {
    /// The state is this.
    case state(PeerSessionState)
    /// An attempt failed; another follows unless the state says that it was the last.
    case failure(InletError)
    /// A data channel, which either side has opened, can be sent over.
    case channelOpened(DataChannelParameters)
    /// It cannot any more: a side has closed it, or the flow begins anew.
    case channelClosed(DataChannelParameters)
}

/// What is known of a session.
public struct PeerSessionStatistics: Sendable, Hashable {
    /// What is sent; nil where that is not known.
    public var codec: VideoCodec?
    /// Bits a second that it is thought to bear.
    public var bitrate: Int
    /// To the peer and back, as the peer reported it last; nil before it has.
    public var roundTrip: Duration?
    /// Packets that the peer missed.
    public var lost: Int
    /// Key frames that the peer asked for.
    public var keyFrameRequests: Int
    /// Pictures that were sent.
    public var sent: Int
    /// Pictures that were left out, as the path was too slow, or while it changed over to another encoding.
    public var dropped: Int
    /// Messages that came over data channels.
    public var messagesReceived: Int
    /// Messages that went out over data channels.
    public var messagesSent: Int
    /// Messages that did not, for want of an open channel or of room.
    public var messagesDropped: Int

    public init(
        codec: VideoCodec? = nil, bitrate: Int = 0, roundTrip: Duration? = nil, lost: Int = 0,
        keyFrameRequests: Int = 0, sent: Int = 0, dropped: Int = 0,
        messagesReceived: Int = 0, messagesSent: Int = 0, messagesDropped: Int = 0
    ) {
        self.codec = codec
        self.bitrate = bitrate
        self.roundTrip = roundTrip
        self.lost = lost
        self.keyFrameRequests = keyFrameRequests
        self.sent = sent
        self.dropped = dropped
        self.messagesReceived = messagesReceived
        self.messagesSent = messagesSent
        self.messagesDropped = messagesDropped
    }
}

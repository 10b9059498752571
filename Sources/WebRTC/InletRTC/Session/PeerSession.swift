public import InletCore

/// A session with one peer, over any engine and signaling. Safe from any thread.
public protocol PeerSession: AnyObject, Sendable {
    /// The current state.
    var state: PeerSessionState { get }
    /// Returns the events from now on, starting with the current state; each call returns a separate stream, which ends
    /// with the session. A slow reader loses the oldest events.
    func events() -> AsyncStream<PeerSessionEvent>
    /// Restarts the flow, for example when the network has changed. Does nothing to a session that has ended.
    func restart()
    /// Ends the session and notifies the peer. Returns at once.
    func close()
    /// Changes this side's wishes for the session, while it runs. Returns at once.
    ///
    /// All changes of a call, and those of further calls before the peer has answered, are one offer within the same
    /// connection; ``PeerSessionEvent/agreed`` follows. Either side may offer at any time: if two offers cross, that of
    /// the side that yields (``PeerSessionPolicy/yields``) is made again. An offer that is not answered is made three
    /// times; then ``PeerSessionEvent/failure(_:)`` reports it, and the session continues.
    ///
    /// - Parameter change: changes the current configuration. Called at once, on this thread.
    /// - Throws: ``InletError/Code/invalidConfiguration`` if the configuration contradicts itself or the limits,
    ///   ``InletError/Code/unsupported`` if the session's signaling or engine has no further offers.
    func configure(_ change: (inout PeerSessionConfiguration) -> Void) throws(InletError)
    /// The session's current statistics.
    var statistics: PeerSessionStatistics { get }

    /// Returns the peer's messages over data channels from now on; each call returns a separate stream, which ends with
    /// the session. An unread stream keeps the newest messages: at most 1024, of at most 8 MiB with the default
    /// ``DataChannelLimits``.
    func messages() -> AsyncStream<PeerMessage>
    /// Sends a message, which may be empty, over a data channel that either side has opened: the first with this label
    /// and exactly this delivery, else the first that matches it in whether it keeps order and whether it may lose
    /// messages. Returns at once.
    ///
    /// The message is dropped, and counted, if no such channel is open: ``PeerSessionEvent/channelOpened(_:)`` reports
    /// when one is. If too much is queued already (``DataChannelLimits/queuedBytes``), the message is dropped; a
    /// channel that loses nothing is closed, because it would have a gap, and is reopened with the next offer.
    ///
    /// - Parameters:
    ///   - body: text or bytes.
    ///   - delivery: the channel's guarantees.
    ///   - label: the channel's label; nil for any.
    /// - Throws: ``InletError/Code/resourceExhausted`` for a message that is longer than
    ///   ``DataChannelLimits/messageBytes`` or than the peer accepts.
    func send(_ body: PeerMessage.Body, over delivery: DataDelivery, labelled label: String?) throws(InletError)
}

extension PeerSession {
    /// Throws, because not every engine and signaling has further offers.
    public func configure(_ change: (inout PeerSessionConfiguration) -> Void) throws(InletError) {
        throw InletError(.unsupported, "This kind of session cannot be changed while it runs. Begin another.")
    }

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

/// An event of a session.
public enum PeerSessionEvent: Sendable {
    /// The state has changed to this one.
    case state(PeerSessionState)
    /// An attempt failed; another follows unless the state is the end.
    case failure(InletError)
    /// The peer has agreed to this side's changes of the session.
    case agreed
    /// A data channel, which either side has opened, is ready to send.
    case channelOpened(DataChannelParameters)
    /// A data channel is no longer open: a side has closed it, or the flow restarts.
    case channelClosed(DataChannelParameters)
    /// The peer's answer has rejected data channels (RFC 3264, 6). The session continues without them: messages are
    /// dropped and counted.
    case channelsRejected
    /// No more bytes wait on a data channel than ``DataChannelLimits/drainedBytes``, after there were more.
    case channelDrained(DataChannelParameters)
}

/// The statistics of a session.
public struct PeerSessionStatistics: Sendable, Hashable {
    /// The codec that is sent; nil if that is unknown.
    public var codec: VideoCodec?
    /// The estimated bit rate that the path carries, in bits a second.
    public var bitrate: Int
    /// The round-trip time that the peer reported last; nil before it has.
    public var roundTrip: Duration?
    /// The number of packets that the peer missed.
    public var lost: Int
    /// The number of key-frame requests from the peer.
    public var keyFrameRequests: Int
    /// The number of pictures that were sent.
    public var sent: Int
    /// The number of pictures that were dropped, because the path was too slow, or during a change to another encoding.
    public var dropped: Int
    /// The number of messages received over data channels.
    public var messagesReceived: Int
    /// The number of messages sent over data channels.
    public var messagesSent: Int
    /// The number of messages that were not sent, because no channel was open or its queue was full.
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

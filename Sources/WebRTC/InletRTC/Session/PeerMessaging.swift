public import InletCore
import InletSystem
import Synchronization

/// Exchanges messages over data channels with the peer of a sink or a source that has one peer at a time: the server of
/// a WHIP sink, or the publisher at a WHIP endpoint. Safe from any thread.
///
///     var sink = WHIPSinkConfiguration("https://media.example/whip") { FFmpegVideoEncoder() }
///     sink.openedChannels = [DataChannelParameters("orders")]
///     capturer.attach(sink)
///     for await message in sink.messaging.messages {
///         try sink.messaging.send(message.body, labelled: message.channel)
///     }
///
/// It exists before the sink or the source and outlives it, and continues with a new one if the capturer recreates one
/// that failed. ``PeerMessage/peer`` distinguishes sessions; that of a WHIP sink keeps its name when it restarts with
/// the same sink.
public final class PeerMessaging: Sendable {
    /// An event of a session.
    public struct Event: Sendable {
        /// The name of the session.
        public var peer: String
        /// The event.
        public var event: PeerSessionEvent
    }

    /// The numbers of a session's messages.
    public struct Counts: Sendable, Hashable {
        /// The messages that the peer sent.
        public var received = 0
        /// The messages that were sent to the peer.
        public var sent = 0
        /// The messages that were not sent, because no channel was open or its queue was full.
        public var dropped = 0

        /// Creates counts of zero.
        public init() {}
    }

    /// Sends a message over a channel of a session.
    package typealias Send = @Sendable (PeerMessage.Body, DataDelivery, String?) throws(InletError) -> Void

    private struct Session {
        var name: String
        var counts: @Sendable () -> Counts
        var send: Send
    }

    private let session = Mutex<Session?>(nil)
    private let limits = Mutex(DataChannelLimits())
    private let readers = Broadcaster<PeerMessage>(limit: DataChannelLimits().unreadMessages)
    private let watchers = Broadcaster<Event>(limit: 1024)

    /// Creates an exchange without a peer.
    public init() {}

    /// The peer's messages from now on. Each access returns a separate sequence, which does not end. If it is not read,
    /// it keeps the newest messages: 128, of at most 8 MiB.
    public var messages: AsyncStream<PeerMessage> { readers.stream() }

    /// The events of the session and its data channels from now on. Each access returns a separate sequence, which does
    /// not end, and keeps the newest 1024 if it is not read.
    public var events: AsyncStream<Event> { watchers.stream() }

    /// The name of the current session, as in ``PeerMessage/peer``; nil without a session.
    public var peer: String? { session.withLock { $0?.name } }

    /// The numbers of messages of the current session, with all of its attempts; zero without a session.
    public var counts: Counts { session.withLock { $0?.counts }?() ?? Counts() }

    /// Sends a message, which may be empty, over a data channel that either side has opened: the first with this label
    /// and exactly this delivery, else the first channel that matches `delivery` in whether it keeps the order and
    /// whether it may lose messages. Returns at once.
    ///
    /// The message is dropped, and counted, if no such channel is open: ``PeerSessionEvent/channelOpened(_:)`` reports
    /// when one is. If too much is queued already (``DataChannelLimits/queuedBytes``), the message is dropped; a
    /// channel that loses nothing is closed, because it would have a gap.
    ///
    /// - Parameters:
    ///   - body: text or bytes.
    ///   - delivery: the channel's guarantees. The default is that it keeps the order and loses nothing.
    ///   - label: the channel's label. The default, nil, is any.
    ///   - peer: the session that the message is for, as ``PeerMessage/peer`` names it. The default, nil, is the
    ///     current one.
    /// - Throws: ``InletError/Code/resourceExhausted`` for a message that is longer than
    ///   ``DataChannelLimits/messageBytes`` or than the peer accepts, ``InletError/Code/notFound`` if there is no
    ///   session, or not this one.
    public func send(
        _ body: PeerMessage.Body, over delivery: DataDelivery = .ordered, labelled label: String? = nil,
        to peer: String? = nil
    ) throws(InletError) {
        try limits.withLock { $0 }.check(body)
        let current = session.withLock { $0 }
        guard let current, peer.map({ $0.utf8.elementsEqual(current.name.utf8) }) ?? true else {
            throw InletError(.notFound, peer == nil ? "There is no session." : "There is no such session any more.")
        }
        try current.send(body, delivery, label)
    }

    // MARK: The session's side

    /// Sends over this session from now on, instead of any earlier one. The closures must not hold the session.
    package func begin(
        _ name: String, limits: DataChannelLimits, counts: @escaping @Sendable () -> Counts, send: @escaping Send
    ) {
        self.limits.withLock { $0 = limits }
        // Not released under the lock.
        _ = session.withLock { session in
            let previous = session
            session = Session(name: name, counts: counts, send: send)
            return previous
        }
    }

    /// Records that a session has ended, unless another has replaced it.
    package func end(_ name: String) {
        _ = session.withLock { session -> Session? in
            guard let current = session, current.name.utf8.elementsEqual(name.utf8) else { return nil }
            session = nil
            return current
        }
    }

    /// Passes a message of the peer to the readers.
    package func tell(_ message: PeerMessage) { readers.send(message) }

    /// Passes an event of a session to the readers.
    package func tell(_ event: PeerSessionEvent, of peer: String) { watchers.send(Event(peer: peer, event: event)) }
}

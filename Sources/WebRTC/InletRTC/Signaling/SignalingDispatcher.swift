public import InletCore
import InletSystem
import Synchronization

/// The part of a signaling service that does not depend on its transport: routing, channels, events. Safe from any
/// thread.
///
/// A service passes received messages to ``receive(_:)``, ``opened(present:)`` and the like, and gets the messages to
/// send by a closure.
public final class SignalingDispatcher: Sendable {
    private struct State {
        var router: SignalingRouter
        var channels: [SignalingRouter.ChannelID: AsyncStream<SignalingMessage>.Continuation] = [:]
        /// The events with which the first stream begins; nil once that exists, or if they were too many.
        var early: [SignalingEvent]? = []
        /// The last event; nil before the end.
        var end: SignalingEvent?
        var isClosed = false
    }

    private let state: Mutex<State>
    private let subscribers = Broadcaster<SignalingEvent>(limit: mostEvents)
    private let transmit: @Sendable (SignalingEnvelope) throws(SignalingFailure) -> Void
    private let servers: @Sendable () async -> [ICEServer]
    /// More than all peers of a router with the default limits.
    private static let mostEvents = 1024
    /// Enough for a few flows with all of their candidates.
    private static let mostMessages = 256

    /// The name by which others reach this side.
    public let localID: PeerID
    /// The name of this run, the same after each reconnection.
    public let instance: SignalingInstance

    /// Creates a dispatcher for a service that is not connected yet.
    ///
    /// - Parameters:
    ///   - router: a new router.
    ///   - iceServers: returns the servers that the service provides. Empty by default.
    ///   - transmit: sends an envelope. Called under a lock, in order: it must only enqueue, without waiting and
    ///     without calling the dispatcher.
    public init(
        _ router: SignalingRouter, iceServers: @escaping @Sendable () async -> [ICEServer] = { [] },
        transmit: @escaping @Sendable (SignalingEnvelope) throws(SignalingFailure) -> Void
    ) {
        (localID, instance) = (router.localID, router.instance)
        state = Mutex(State(router: router))
        self.transmit = transmit
        servers = iceServers
    }

    // MARK: For the service

    /// Records that the service is connected, as ``SignalingRouter/opened(present:)``.
    public func opened(present: [PeerID: SignalingInstance?]? = nil) { update { $0.opened(present: present) } }
    /// Records that the service is disconnected.
    public func interrupted(_ error: InletError) { update { $0.interrupted(error) } }
    /// Records that a peer is present.
    public func joined(_ peer: PeerID, instance: SignalingInstance? = nil) {
        update { $0.joined(peer, instance: instance) }
    }
    /// Records that a peer has left.
    public func left(_ peer: PeerID, instance: SignalingInstance? = nil) {
        update { $0.left(peer, instance: instance) }
    }
    /// Takes an envelope from the service. An envelope for another peer is ignored.
    public func receive(_ envelope: SignalingEnvelope) { update { $0.received(envelope) } }

    /// Ends all channels and events. Further calls of any method change nothing.
    ///
    /// - Parameter error: the reason; nil if this side ends it.
    public func closed(_ error: InletError?) {
        update { $0.closed(error) }
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        if isFirst { subscribers.finish() }
    }

    // MARK: For the application, as SignalingService has it

    /// Whether the service is connected now.
    public var isOpen: Bool { state.withLock { $0.router.isOpen } }
    /// The present peers, in the order of their names.
    public var presentPeers: [PeerID] { state.withLock { $0.router.presentPeers } }

    /// Returns the events, as ``SignalingService/events()``.
    public func events() -> AsyncStream<SignalingEvent> {
        state.withLock { state in
            defer { state.early = nil }
            if let early = state.early, !early.isEmpty { return subscribers.stream { early } }
            if let end = state.end { return subscribers.stream { [end] } }
            guard state.router.isOpen else { return subscribers.stream() }
            let peers = state.router.presentPeers
            return subscribers.stream { [.opened(peers: peers)] }
        }
    }

    /// Returns the channel for one session with a peer, as ``SignalingService/channel(to:)``.
    public func channel(to peer: PeerID) throws(InletError) -> any SignalingChannel {
        let (incoming, arrived) = AsyncStream.makeStream(
            of: SignalingMessage.self, bufferingPolicy: .bufferingNewest(Self.mostMessages))
        let number = try state.withLock { state throws(InletError) in
            guard !state.isClosed else { throw Self.ended.error }
            let (channel, actions) = try state.router.open(to: peer)
            state.channels[channel] = arrived
            perform(actions, &state)
            return channel
        }
        return RoutedChannel(number: number, dispatcher: self, incoming: incoming)
    }

    /// Sends a message about a call, as ``SignalingService/send(_:to:)``.
    public func send(_ message: CallMessage, to peer: PeerID) throws(SignalingFailure) {
        try state.withLock { state throws(SignalingFailure) in
            guard !state.isClosed else { throw Self.ended }
            for case .transmit(let envelope) in try state.router.send(message, to: peer) { try transmit(envelope) }
        }
    }

    /// Returns the servers that the service provides.
    public func iceServers() async -> [ICEServer] { await servers() }

    // MARK: Channels

    private static var ended: SignalingFailure {
        SignalingFailure(InletError(.cancelled, "The signaling service has ended."), retryAfter: nil)
    }

    private func send(_ message: SignalingMessage, on channel: SignalingRouter.ChannelID) throws(SignalingFailure) {
        try state.withLock { state throws(SignalingFailure) in
            guard let actions = state.router.send(message, on: channel) else {
                throw SignalingFailure(
                    InletError(.cancelled, "The channel to the peer has ended: it was replaced or the peer restarted."),
                    retryAfter: nil)
            }
            for case .transmit(let envelope) in actions { try transmit(envelope) }
        }
    }

    private func close(_ channel: SignalingRouter.ChannelID) { update { $0.close(channel) } }

    private func update(_ change: (inout SignalingRouter) -> [SignalingRouter.Action]) {
        state.withLock { state in
            guard !state.isClosed else { return }
            perform(change(&state.router), &state)
        }
    }

    /// Done under the lock, so that everyone sees one order.
    private func perform(_ actions: [SignalingRouter.Action], _ state: inout State) {
        for action in actions {
            switch action {
            case .tell(let event): tell(event, &state)
            case .deliver(let message, let channel): state.channels[channel]?.yield(message)
            case .finish(let channel): state.channels.removeValue(forKey: channel)?.finish()
            // A message that a full queue refuses is lost, as in any signaling: the session offers again.
            case .transmit(let envelope): try? transmit(envelope)
            }
        }
    }

    private func tell(_ event: SignalingEvent, _ state: inout State) {
        if case .closed = event { state.end = event }
        state.early?.append(event)
        if let early = state.early, early.count > Self.mostEvents { state.early = nil }
        subscribers.send(event)
    }

    private struct RoutedChannel: SignalingChannel {
        let number: SignalingRouter.ChannelID
        let dispatcher: SignalingDispatcher
        let incoming: AsyncStream<SignalingMessage>

        func iceServers() async -> [ICEServer] { await dispatcher.iceServers() }
        func send(_ message: SignalingMessage) async throws(SignalingFailure) {
            try dispatcher.send(message, on: number)
        }
        func close() async { dispatcher.close(number) }
    }
}

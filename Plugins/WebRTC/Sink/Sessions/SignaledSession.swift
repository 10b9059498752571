import Dispatch
import InletCore
import InletRTC
import InletSystem
import Logging
import Synchronization
import WebRTCEngine

/// A session whose signaling is a channel of the application. Safe from any thread.
///
/// Two tasks carry messages in order: from the peer to the engine, and from the engine to the channel. Both end
/// with the session.
final class SignaledSession: PeerSession, RemoteTrackSession {
    private let engine: EngineSession
    private let shown: Shown
    private let limits: DataChannelLimits
    /// The codecs that can be sent.
    private let codecs: [VideoCodec]
    private let configuration: Mutex<PeerSessionConfiguration>
    /// Whether the channel supports further offers.
    private let takesChanges: Bool
    /// Left when all messages have been sent.
    private let talking = DispatchGroup()

    /// The state for readers, and the work to do at the end.
    private final class Shown: Sendable {
        struct State {
            var state = PeerSessionState.new
            var failure: InletError?
            /// The warnings that were already logged, so that each is logged once.
            var warnings: Set<String> = []
            var readers: [Int: AsyncStream<PeerSessionEvent>.Continuation] = [:]
            var count = 0
        }
        let state = Mutex(State())
        let subscribers: Broadcaster<PeerMessage>
        private let name: String
        private let logger: Logger
        private let ledger: SessionLedger?
        private let messaging: PeerMessaging?
        private static let mostWarnings = 16

        init(_ name: String, _ environment: EngineSession.Environment) {
            self.name = name
            logger = environment.logger
            ledger = environment.ledger
            messaging = environment.messaging
            subscribers = Broadcaster(limit: environment.limits.unreadMessages)
        }

        func hear(_ message: PeerMessage) {
            subscribers.send(message)
            messaging?.tell(message)
        }

        func tell(_ event: PeerSessionEvent) {
            messaging?.tell(event, of: name)
            for reader in state.withLock({ Array($0.readers.values) }) { reader.yield(event) }
        }

        func set(_ new: PeerSessionState) {
            messaging?.tell(.state(new), of: name)
            let readers = state.withLock { state in
                state.state = new
                if new == .connected { state.warnings = [] }
                defer { if case .ended = new { state.readers = [:] } }
                return Array(state.readers.values)
            }
            for reader in readers {
                reader.yield(.state(new))
                if case .ended = new { reader.finish() }
            }
        }

        func fail(_ error: InletError) {
            let (readers, isNew) = state.withLock { state in
                state.failure = error
                // A server's message may differ each time.
                let isNew =
                    state.warnings.count < Self.mostWarnings && state.warnings.insert(error.message).inserted
                return (Array(state.readers.values), isNew)
            }
            if isNew { logger.warning("\(error)") }
            ledger?.note(error)
            messaging?.tell(.failure(error), of: name)
            for reader in readers { reader.yield(.failure(error)) }
        }
    }

    private static let mostEvents = 64

    /// Creates a session. It starts at once if this side makes the offer.
    ///
    /// - Parameters:
    ///   - wanted: this side's settings for the session. The default, nil, uses those of the environment.
    ///   - onEnd: called once, when the peer has been notified of the end or could not be notified.
    init(
        _ channel: any SignalingChannel, _ policy: PeerSessionPolicy, _ environment: EngineSession.Environment,
        wanted: PeerSessionConfiguration? = nil,
        onEnd: @escaping @Sendable (SignaledSession) -> Void
    ) {
        let shown = Shown(policy.name, environment)
        // Sufficient for a few flows with all of their candidates. A peer that gets more late cannot use them.
        let (messages, outgoing) = AsyncStream.makeStream(
            of: SignalingMessage.self, bufferingPolicy: .bufferingOldest(512))
        self.shown = shown
        limits = environment.limits
        codecs = environment.pipelines.map(\.codec)
        let wanted = wanted ?? environment.configuration
        configuration = Mutex(wanted)
        takesChanges = environment.track != nil
        let engine = EngineSession(
            policy, environment, wanted: wanted, serversOfSignaling: { await channel.iceServers() }
        ) { event in
            switch event {
            case .send(let message): outgoing.yield(message)
            case .state(let state):
                if case .ended(let end) = state {
                    // Done first, so that code waiting for the session's end then finds no peer.
                    environment.messaging?.end(policy.name)
                    outgoing.finish()
                    if let error = end.error, end != .declined { shown.fail(error) }
                    shown.subscribers.finish()
                }
                shown.set(state)
            case .agreed: shown.tell(.agreed)
            case .channelsRejected: shown.tell(.channelsRejected)
            case .setback(let end): if let error = end.error { shown.fail(error) }
            case .channel(.said(let message)): shown.hear(message)
            case .channel(.opened(let channel)): shown.tell(.channelOpened(channel))
            case .channel(.closed(let channel)): shown.tell(.channelClosed(channel))
            case .channel(.drained(let channel)): shown.tell(.channelDrained(channel))
            }
        }
        self.engine = engine
        let receiving = Task { [weak engine] in
            for await message in channel.incoming { engine?.take(.init(message)) }
            if !Task.isCancelled { engine?.take(.signalingEnded) }
        }
        let following = NetworkWatch.shared.follow { [weak engine] in engine?.networkChanged($0) }
        talking.enter()
        Task { [self] in
            for await message in messages { await Self.send(message, on: channel, shown: shown, engine: engine) }
            receiving.cancel()
            following.cancel()
            await channel.close()
            onEnd(self)
            talking.leave()
        }
        environment.messaging?.begin(policy.name, limits: environment.limits) { [weak engine] in
            engine?.messageCounts ?? .init()
        } send: {
            [weak engine] body, delivery, label throws(InletError) in
            try engine?.send(body, over: delivery, labelled: label)
        }
        engine.take(.start)
    }

    /// Waits until the session has ended and the peer was notified. Must not be called on shared threads.
    func waitForEnd(until deadline: MonotonicTime) {
        let wait = max(0, (deadline - .now).wholeNanoseconds)
        _ = talking.wait(timeout: .now() + .nanoseconds(Int(wait)))
    }

    private static func send(
        _ message: SignalingMessage, on channel: any SignalingChannel, shown: Shown, engine: EngineSession
    ) async {
        do throws(SignalingFailure) {
            try await channel.send(message)
        } catch {
            shown.fail(error.error)
            // If one candidate is missing, there may be others.
            guard case .description(let description) = message else { return }
            engine.take(.undelivered(description.flow, retryAfter: error.retryAfter))
        }
    }

    var state: PeerSessionState { shown.state.withLock { $0.state } }

    /// The session's last failure; nil without a failure.
    var failure: InletError? { shown.state.withLock { $0.failure } }

    var statistics: PeerSessionStatistics {
        let known = engine.statistics
        return PeerSessionStatistics(
            codec: known.codec, bitrate: known.bitrate, roundTrip: known.roundTrip, lost: known.packetsLost,
            keyFrameRequests: known.keyFrameRequests, sent: known.framesSent, dropped: known.framesDropped,
            messagesReceived: known.messagesReceived, messagesSent: known.messagesSent,
            messagesDropped: known.messagesDropped)
    }

    func events() -> AsyncStream<PeerSessionEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: PeerSessionEvent.self, bufferingPolicy: .bufferingNewest(Self.mostEvents))
        let number = shown.state.withLock { state in
            continuation.yield(.state(state.state))
            if case .ended = state.state {
                continuation.finish()
                return 0
            }
            state.count += 1
            state.readers[state.count] = continuation
            return state.count
        }
        continuation.onTermination = { [weak shown] _ in
            // Must not be released under the lock, because that would call this handler again.
            _ = shown?.state.withLock { $0.readers.removeValue(forKey: number) }
        }
        return stream
    }

    func messages() -> AsyncStream<PeerMessage> { shown.subscribers.stream() }

    func send(_ body: PeerMessage.Body, over delivery: DataDelivery, labelled label: String?) throws(InletError) {
        try engine.send(body, over: delivery, labelled: label)
    }

    func configure(_ change: (inout PeerSessionConfiguration) -> Void) throws(InletError) {
        guard takesChanges else {
            throw InletError(.unsupported, "WHIP has no second offer. Publish again.")
        }
        let current = configuration.withLock { $0 }
        var changed = current
        change(&changed)
        try changed.validate(limits, codecs: codecs)
        // Keeps the order of concurrent calls.
        configuration.withLock {
            $0 = changed
            engine.configure(changed)
        }
    }

    /// Records that the track was withdrawn or is available again.
    func trackChanged() { engine.trackChanged() }

    var remoteTrack: RemoteTrack { engine.remoteTrack }
    func holdRemotePackets() { engine.holdRemotePackets() }
    func requestRemoteKeyFrame() { engine.requestRemoteKeyFrame() }

    func restart() { engine.take(.restart) }
    func close() { engine.take(.close) }
}

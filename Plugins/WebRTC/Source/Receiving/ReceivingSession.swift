import Dispatch
import InletCore
import InletRTC
import InletSystem
import Logging
import Synchronization
import WebRTCEngine

// Unsafe: has state that only its queue uses.
/// A session in which a peer sends a track, over any signaling: its state machine, its pipeline, and the timer
/// that both need.
///
/// `@unchecked Sendable`: everything except constants is accessed only on `queue`.
final class ReceivingSession: @unchecked Sendable {
    /// An event of the session, reported on its queue.
    enum Event {
        /// A message must be sent.
        case send(SignalingMessage)
        /// The state has changed.
        case state(PeerSessionState)
        /// A data channel opened, closed or drained, or a message of the peer arrived over it.
        case channel(PeerChannels.News)
    }

    /// The environment that all sessions of a source share.
    struct Environment: Sendable {
        var pipeline: ReceivingPipeline
        var inbox: PacketInbox
        var ice: ICEServers
        /// The only address at which candidates are gathered; nil for all addresses of this machine.
        var address: String?
        /// The time that later packets wait for a missing one.
        var hold: Duration
        /// The limits on the peer's data channels; nil if they are ignored.
        var channels: DataChannelLimits?
        let stunChoice = STUNChoice()
        /// Left when all pipelines are closed.
        let closing = DispatchGroup()
        var logger: Logger
    }

    /// The session's name, which cannot be guessed.
    let name: String
    private let environment: Environment
    private let queue: DispatchQueue
    private let timer: any DispatchSourceTimer
    private let tell: @Sendable (Event) -> Void
    /// Returns the servers that signaling provides.
    private let serversOfSignaling: (@Sendable () async -> [ICEServer])?
    private var machine: PeerSessionStateMachine
    /// The current engine. Its pipeline is created when the payload type is known.
    private var engine: PeerSessionStateMachine.EngineID?
    private var peer: GStreamerPeer?
    /// The number of the session in the inbox; nil before there is a pipeline.
    private var number: Int?
    private var nextCheck = MonotonicTime.distantFuture
    /// Whether a packet has arrived since the last check.
    private let hasArrival = Atomic(false)
    /// The peer's data channels; nil if they are ignored.
    private let channels: PeerChannels?
    /// The maximum size of a message that the peer accepts, in bytes, for other threads; nil before it is known,
    /// and if any size is accepted.
    private let accepted = Mutex<Int?>(nil)
    /// The numbers of messages, for other threads.
    private let counts = Mutex(PeerMessaging.Counts())
    /// The limits for a session whose messages are not read.
    private static let noMessages: DataChannelLimits = {
        var limits = DataChannelLimits()
        limits.messageBytes = 0
        return limits
    }()
    private static let checkInterval = Duration.seconds(1)
    private static let doubtInterval = Duration.milliseconds(200)
    private static let mostForeignServers = 8

    /// - Parameters:
    ///   - serversOfSignaling: called before each engine is created; nil if signaling provides no servers.
    ///   - tell: called on the session's queue. It must not retain the session.
    init(
        _ policy: PeerSessionPolicy, _ environment: Environment,
        serversOfSignaling: (@Sendable () async -> [ICEServer])? = nil,
        tell: @escaping @Sendable (Event) -> Void
    ) {
        name = policy.name
        self.environment = environment
        channels = environment.channels.map { PeerChannels(of: policy.name, limits: $0) }
        self.serversOfSignaling = serversOfSignaling
        self.tell = tell
        machine = PeerSessionStateMachine(policy, takesFurtherOffers: false)
        queue = DispatchQueue(label: "inlet.webrtc.receiving")
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in self?.timePassed() }
        timer.activate()
    }

    deinit { timer.cancel() }

    /// Passes an input to the session. Returns at once.
    func take(_ input: PeerSessionStateMachine.Input) { queue.async { self.handle(input) } }

    /// Requests a key frame from the peer. Returns at once.
    func requestKeyFrame() { queue.async { self.peer?.requestKeyFrame() } }

    /// The numbers of messages over data channels.
    var messageCounts: PeerMessaging.Counts { counts.withLock { $0 } }

    /// Sends a message over a data channel of the peer. Returns at once.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` for a message that is too long for this side or the peer.
    func send(_ body: PeerMessage.Body, over delivery: DataDelivery, labelled label: String?) throws(InletError) {
        try (environment.channels ?? Self.noMessages).check(body, accepted: accepted.withLock { $0 })
        queue.async {
            self.channels?.send(body, over: delivery, labelled: label)
            self.tellNews()
        }
    }

    /// Makes the session check whether its path still works after a network change. Returns at once.
    func networkChanged(_ change: NetworkChange) {
        queue.async {
            self.environment.logger.info(
                "The network changed: \(change).", metadata: ["peer": "\(self.name.prefix(8))"])
            self.hasArrival.store(false, ordering: .relaxed)
            self.handle(.networkChanged(mayBreakPaths: change.mayBreakPaths))
            guard self.machine.isDoubted else { return }
            self.nextCheck = .now + Self.doubtInterval
            self.schedule()
        }
    }

    // MARK: On the queue

    /// Reports news about the data channels. The counts are published before a listener may read them.
    private func tellNews() {
        guard let channels else { return }
        counts.withLock { $0 = channels.figures }
        for news in channels.takeNews() { tell(.channel(news)) }
    }

    private func handle(_ input: PeerSessionStateMachine.Input) {
        for action in machine.handle(input, at: .now) { perform(action) }
        schedule()
    }

    private func schedule() {
        let next = min(machine.deadline ?? .distantFuture, nextCheck)
        guard next != .distantFuture else { return timer.schedule(deadline: .distantFuture) }
        let wait = max(0, (next - .now).wholeNanoseconds)
        timer.schedule(deadline: .now() + .nanoseconds(Int(wait)), leeway: .milliseconds(5))
    }

    private func timePassed() {
        if MonotonicTime.now >= nextCheck {
            nextCheck = .now + (machine.isDoubted ? Self.doubtInterval : Self.checkInterval)
            // A sender that sends no media, for example because its camera is off, still sends RTCP.
            if hasArrival.exchange(false, ordering: .relaxed) { handle(.feedback) }
        }
        handle(.tick)
    }

    private func perform(_ action: PeerSessionStateMachine.Action) {
        switch action {
        case .open(let id): engine = id
        case .close:
            channels?.removeAll()
            tellNews()
            (peer, engine) = (nil, nil)
            // The end is reported with its reason. If this side restarts a flow, it replaces the last one.
            if case .ended = machine.state { break }
            if machine.policy.role == .offering { break }
            if let number { environment.inbox.end(number, nil) }
            number = nil
        case .offer(let id): offer(id)
        case .setRemote(let id, let description): takeRemote(description, id)
        case .answer: peer?.makeAnswer()
        // Names that hide an address are not resolved.
        case .add(_, let candidate): if CandidateAddress.isNumeric(candidate.line) { peer?.add(candidate) }
        case .describe(let id): if let text = peer?.description { say(id, gathered(text)) }
        case .send(var description):
            if description.kind == .offer { description.sdp = OfferText.prepared(description.sdp) }
            if let limits = environment.channels {
                description.sdp = SessionDescription.stating(
                    longestMessage: limits.receivedBytes, in: description.sdp)
            }
            tell(.send(.description(description)))
        case .sendCandidate(let candidate): tell(.send(.candidate(candidate)))
        case .sendBye(let flow): tell(.send(.bye(flow)))
        case .tell(let state): told(state)
        // A further offer of the peer starts another flow, and this side makes no further offers.
        case .reoffer, .revise, .tellAgreed: break
        case .tellSetback(let end):
            if let error = end.error { environment.logger.warning("\(error)") }
        }
    }

    private func told(_ state: PeerSessionState) {
        environment.logger.info("A publisher is \(state).", metadata: ["peer": "\(name.prefix(8))"])
        switch state {
        case .connected:
            nextCheck = .now + Self.checkInterval
            if let number { environment.inbox.noteConnected(number) }
        case .ended(let end):
            nextCheck = .distantFuture
            if let number {
                environment.inbox.end(number, end.error)
            } else {
                environment.inbox.fail(end.error)
            }
            number = nil
        default: nextCheck = .distantFuture
        }
        tell(.state(state))
    }

    private func offer(_ id: PeerSessionStateMachine.EngineID) {
        Task { [weak self, serversOfSignaling] in
            let servers = await serversOfSignaling?() ?? []
            self?.queue.async { [weak self] in
                guard let self, engine == id else { return }
                let offered = ReceivingPipeline.offered
                build(
                    environment.pipeline.capsForOffer, payload: offered.payload,
                    orientation: offered.orientation, servers, id)
                peer?.makeOffer()
            }
        }
    }

    /// Sets the peer's description. For an engine that answers, it is set once the servers are known.
    private func takeRemote(_ description: SessionDescription, _ id: PeerSessionStateMachine.EngineID) {
        guard description.kind == .offer, let serversOfSignaling else { return setRemote(description, [], id) }
        Task { [weak self] in
            let servers = await serversOfSignaling()
            self?.queue.async { [weak self] in
                guard let self, engine == id else { return }
                setRemote(description, servers, id)
            }
        }
    }

    private func setRemote(
        _ description: SessionDescription, _ servers: [ICEServer], _ id: PeerSessionStateMachine.EngineID
    ) {
        do throws(PeerSessionFailure) {
            let video = try VideoOffer(description.sdp, in: .sends)
            guard let payload = video.payload(for: environment.pipeline.codec) else { throw .noCommonCodec }
            if description.kind == .offer {
                build(
                    environment.pipeline.caps(answering: payload.type), payload: payload.type,
                    orientation: video.extensions[VideoOffer.videoOrientation], servers, id)
            }
            guard let peer else { return }
            channels?.longestAccepted = description.longestMessage
            accepted.withLock { $0 = description.longestMessage }
            var description = description
            description.sdp = try CandidateAddress.withoutNames(description.sdp)
            guard peer.setRemote(description) else { throw .malformedDescription }
        } catch {
            say(id, .failed(error))
        }
    }

    private func build(
        _ caps: String, payload: Int, orientation: Int?, _ servers: [ICEServer],
        _ id: PeerSessionStateMachine.EngineID
    ) {
        let ice = environment.ice
        let inbox = environment.inbox
        let number = inbox.begin(payloadType: UInt8(clamping: payload), orientation: orientation)
        self.number = number
        do throws(InletError) {
            let own = ice.list(for: "inlet", now: HostTime.seconds)
            let all = own + servers.prefix(Self.mostForeignServers)
            let track = ReceivedTrack(caps: caps) { [weak self] packet in
                inbox.put(packet, of: number, at: .now)
                self?.hasArrival.store(true, ordering: .relaxed)
            }
            peer = try GStreamerPeer(
                ReceivingPipeline.text(hold: environment.hold),
                servers: ice.isRelayOnly ? all : environment.stunChoice.reduced(all),
                relayTLS: { own.contains($0) ? ice.tls : RelayTLS() }, isRelayOnly: ice.isRelayOnly,
                address: environment.address, closing: environment.closing, orientation: nil,
                channelLimits: environment.channels ?? Self.noMessages, track: track, logger: environment.logger
            ) { [weak self] event in
                guard let self else { return }
                queue.async { self.peerSaid(event, id) }
            }
        } catch {
            environment.logger.error("\(error)")
            say(id, .failed(.engine))
        }
    }

    /// Queues an engine's event, because the machine is currently handling another one.
    private func say(_ id: PeerSessionStateMachine.EngineID, _ event: PeerSessionStateMachine.EngineEvent) {
        queue.async { self.handle(.engine(id, event)) }
    }

    private func peerSaid(_ event: GStreamerPeer.Event, _ id: PeerSessionStateMachine.EngineID) {
        guard id == engine else { return }
        switch event {
        case .remoteSet: handle(.engine(id, .remoteSet))
        case .localSet(let text): handle(.engine(id, .localSet(text)))
        case .candidate(let line, let section): handle(.engine(id, .candidate(line, section: section)))
        case .allFound: if let text = peer?.description { handle(.engine(id, gathered(text))) }
        case .path(let state): handle(.engine(id, .path(state)))
        case .channel(let channel):
            channels?.add(channel)
            tellNews()
        case .channelSaid(let channel, let event):
            channels?.handle(event, from: channel)
            tellNews()
        case .offerMade, .wantsKeyFrame, .feedback, .arrivals: break
        case .failed(let message):
            // Before there are two descriptions, the error is in the peer's description, although it passed this
            // side's check.
            let isPeers = [.exchanging, .gathering].contains(machine.state)
            environment.logger.log(
                level: isPeers ? .debug : .warning, "A peer's pipeline failed: \(Redaction.redact(message))")
            handle(.engine(id, .failed(isPeers ? .malformedDescription : .engine)))
        }
    }

    /// Returns the engine's result, if it is sufficient: the engine does not report a relay that rejects
    /// credentials, but then has no address there.
    private func gathered(_ text: String) -> PeerSessionStateMachine.EngineEvent {
        let ice = environment.ice
        guard ice.isRelayOnly, !text.containsBytes(" typ relay") else { return .gathered(text) }
        return .failed(peer?.relayFailure?.code == .tlsFailed ? .relayTLS : .noRelay)
    }
}

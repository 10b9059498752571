import Dispatch
import InletCore
import InletRTC
import InletSystem
import Logging
import Synchronization
import WebRTCEngine

// Unsafe: has state that only its queue uses.
/// A session with a peer over any signaling: its state machine, its pipeline, and the timer that both need.
///
/// `@unchecked Sendable`: everything except constants is accessed only on `queue`.
final class EngineSession: @unchecked Sendable {
    /// An event of the session, reported on its queue.
    enum Event {
        /// A message must be sent.
        case send(SignalingMessage)
        /// The state has changed.
        case state(PeerSessionState)
        /// An attempt failed for this reason; another one follows.
        case setback(PeerSessionEnd)
        /// The peer has agreed to this side's changes.
        case agreed
        /// The peer's answer has rejected the data channels that this side offered.
        case channelsRejected
        /// A data channel of the application opened, closed or drained, or a message of the peer arrived over it.
        case channel(PeerChannels.News)
    }

    /// The session's name in the hub.
    let name: String
    let environment: Environment
    let queue: DispatchQueue
    private let timer: any DispatchSourceTimer
    let source = UInt32.random(in: 1...UInt32.max)
    let tell: @Sendable (Event) -> Void
    /// Returns the servers that signaling provides.
    private let serversOfSignaling: (@Sendable () async -> [ICEServer])?

    var machine: PeerSessionStateMachine
    /// The current engine. Its pipeline is created when the codec is known.
    private var engine: PeerSessionStateMachine.EngineID?
    var viewer: GStreamerPeer?
    /// The pipeline of the negotiated codec.
    var pipeline: ViewerPipeline?
    /// The payload type of the sent packets; nil before both descriptions are known.
    var payload: Int?
    /// The formats in this side's descriptions, in addition to the engine's own; empty without a second offer, or
    /// with only one codec.
    var formats: [SentFormat] = []
    /// The formats of this side's first answer: those of the peer's offer, starting with the one that is sent.
    var answered: [SentFormat] = []
    /// The formats in this side's last offer, in order of preference.
    var offered: [SentFormat] = []
    /// The numbers of the header extensions that are sent.
    var extensions: (transportWideSequence: Int?, orientation: Int?) = (nil, nil)
    /// The negotiated `profile-level-id` of H.264.
    var profile: String?
    /// The rate control; nil before both descriptions are known.
    var steering: PathSteering?
    let channels: PeerChannels
    /// This side's settings.
    var wanted: PeerSessionConfiguration
    /// Whether the last description stated that nothing is sent.
    var isSaidInactive = false
    /// Whether the peer wants pictures.
    var isWanted = true
    /// The peer's track.
    let remoteTrack = RemoteTrack()
    /// The properties of the peer's track according to the peer's last description.
    var remote = RemoteState()
    /// The channels opened by the current engine.
    var opened: [DataChannelParameters: DataChannel] = [:]
    /// A further offer that has not been set yet.
    var furtherOffer: String?
    /// The statistics at the last change, for other threads.
    let known = Mutex<ViewerStatistics?>(nil)
    /// The maximum size of a message that the peer accepts, in bytes, for other threads; nil before it is known,
    /// and if any size is accepted.
    private let accepted = Mutex<Int?>(nil)
    var keyFrameRequests = 0
    /// The number of pictures that had been sent at the last check.
    private var lastSent = 0
    /// The counts of removed lanes, which are part of the session's counts. Also for other threads.
    let removedPackets = Mutex(ViewerHub.Figures())
    var hasWarned = false
    /// Whether the peer of the current engine rejects data channels.
    var areChannelsRejected = false
    /// Whether the log already has a warning that the peer rejects data channels, which each flow detects again.
    var hasWarnedOfChannels = false
    private var hasJoined = false
    private var nextInquiry = MonotonicTime.distantFuture
    /// The time of the last network change, or of the session's beginning.
    private var lastChange = MonotonicTime.now
    private static let inquiryInterval = Duration.seconds(1)
    private static let doubtInterval = Duration.milliseconds(200)
    var hub: ViewerHub { environment.hub }
    var logger: Logger { environment.logger }

    /// - Parameters:
    ///   - wanted: this side's settings for the session. The default, nil, uses those of the environment.
    ///   - serversOfSignaling: called before each engine is created; nil if signaling provides no servers.
    ///   - tell: called on the session's queue. It must not retain the session.
    init(
        _ policy: PeerSessionPolicy, _ environment: Environment, wanted: PeerSessionConfiguration? = nil,
        serversOfSignaling: (@Sendable () async -> [ICEServer])? = nil,
        tell: @escaping @Sendable (Event) -> Void
    ) {
        name = policy.name
        let broadcast = environment.broadcast
        channels = PeerChannels(
            of: policy.name, limits: environment.limits,
            page: PageChannel(firstTimestamp: source) { [weak broadcast] in broadcast?.state.shown ?? .off })
        self.environment = environment
        self.wanted = wanted ?? environment.configuration
        self.serversOfSignaling = serversOfSignaling
        self.tell = tell
        var policy = policy
        // A peer's reports may be one inquiry interval old.
        policy.silence = max(Self.inquiryInterval, policy.silence - Self.inquiryInterval)
        machine = PeerSessionStateMachine(policy)
        queue = DispatchQueue(label: "inlet.webrtc.session")
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in self?.timePassed() }
        timer.activate()
    }

    deinit { timer.cancel() }

    /// Passes an input to the session. Returns at once.
    func take(_ input: PeerSessionStateMachine.Input) { queue.async { self.handle(input) } }

    /// Sends a message over a data channel.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` for a message that is too long for this side or the peer.
    func send(_ body: PeerMessage.Body, over delivery: DataDelivery, labelled label: String?) throws(InletError) {
        try environment.limits.check(body, accepted: accepted.withLock { $0 })
        queue.async {
            self.channels.send(body, over: delivery, labelled: label)
            self.show()
        }
    }

    /// Records how long messages may be according to a description of the peer.
    func note(longestMessage: Int?) {
        channels.longestAccepted = longestMessage
        accepted.withLock { $0 = longestMessage }
    }

    /// Notifies pages that the track's state has changed.
    func tellPages() { queue.async { _ = self.channels.tellPages() } }

    /// Makes the session check whether its path still works after a network change. Returns at once.
    func networkChanged(_ change: NetworkChange) {
        // A report that arrived before the change is processed first, so that it does not count as a later one.
        let now = MonotonicTime.now
        queue.async {
            self.lastChange = now
            self.viewer?.inquire()
        }
        queue.asyncAfter(deadline: .now() + .milliseconds(50)) {
            self.logger.info("The network changed: \(change).", metadata: ["peer": "\(self.name.prefix(8))"])
            if self.nextInquiry != .distantFuture { self.nextInquiry = .now + Self.doubtInterval }
            self.handle(.networkChanged(mayBreakPaths: change.mayBreakPaths))
        }
    }

    /// Ends the session. Pages of this server are notified first, and have half a second to leave: unsent messages
    /// are lost with the session, and a page that was not notified waits until its ICE consent expires (RFC 7675).
    ///
    /// A track that is published again meanwhile keeps the session: the last message to its page states that it is
    /// on.
    func closeTellingPages() {
        queue.async {
            guard self.channels.tellPages() else { return self.closeUnlessPublished() }
            self.queue.asyncAfter(deadline: .now() + .milliseconds(500)) { self.closeUnlessPublished() }
        }
    }

    private func closeUnlessPublished() {
        guard environment.broadcast?.state.isPublished ?? false else { return handle(.close) }
        _ = channels.tellPages()
    }

    /// Publishes the current statistics, and notifies the application of news about its channels.
    private func show() {
        let statistics = currentStatistics
        known.withLock { $0 = statistics }
        // Called last, because a listener may read the counts.
        for news in channels.takeNews() { tell(.channel(news)) }
    }

    // MARK: On the queue

    func handle(_ input: PeerSessionStateMachine.Input) {
        for action in machine.handle(input, at: .now) { perform(action) }
        show()
        schedule()
    }

    private func schedule() {
        let next = min(machine.deadline ?? .distantFuture, nextInquiry)
        guard next != .distantFuture else { return timer.schedule(deadline: .distantFuture) }
        let wait = max(0, (next - .now).wholeNanoseconds)
        timer.schedule(deadline: .now() + .nanoseconds(Int(wait)), leeway: .milliseconds(5))
    }

    private func timePassed() {
        if MonotonicTime.now >= nextInquiry {
            // Without packets there are no reports, so a peer that is sent nothing does not count as dead.
            let sent = packets.sent
            if sent == lastSent, !machine.isDoubted { handle(.feedback) }
            lastSent = sent
            nextInquiry = .now + (machine.isDoubted ? Self.doubtInterval : Self.inquiryInterval)
            viewer?.inquire()
            steer()
            environment.broadcast?.tell(.reported(currentStatistics))
        }
        handle(.tick)
    }

    private func perform(_ action: PeerSessionStateMachine.Action) {
        switch action {
        case .open(let id): engine = id
        case .close:
            removeLane()
            // Listeners must see the final counts when they learn of the end.
            show()
            channels.removeAll()
            // `steering` is kept, because its statistics are still read.
            (viewer, engine, furtherOffer, offered, opened) = (nil, nil, nil, [], [:])
            areChannelsRejected = false
            remote = RemoteState()
            remoteTrack.pause()
        case .offer(let id): offer(id)
        case .setRemote(let id, let description): takeRemote(description, id)
        case .answer: viewer?.makeAnswer()
        case .reoffer:
            openChannels()
            viewer?.makeFurtherOffer()
        case .revise(let id, let description): revise(description, id)
        case .tellAgreed: tell(.agreed)
        // Names that hide an address are not resolved.
        case .add(_, let candidate):
            if CandidateAddress.isNumeric(candidate.line) { viewer?.add(candidate) }
        case .describe(let id): if let text = viewer?.description { say(id, gathered(text)) }
        case .send(let description): tell(.send(.description(sent(description))))
        case .sendCandidate(let candidate): tell(.send(.candidate(candidate)))
        case .sendBye(let flow): tell(.send(.bye(flow)))
        case .tell(let state): told(state)
        case .tellSetback(let end): tell(.setback(end))
        }
    }

    private func offer(_ id: PeerSessionStateMachine.EngineID) {
        Task { [weak self, serversOfSignaling] in
            let servers = await serversOfSignaling?() ?? []
            self?.queue.async { [weak self] in
                guard let self, engine == id else { return }
                guard let pipeline = usablePipelines.first else { return say(id, .failed(.noCommonCodec)) }
                self.pipeline = pipeline
                formats = takesCodecs ? SentFormat.offered(environment.pipelines.map(\.codec)) : []
                payload = formats.first { $0.codec == pipeline.codec }?.payload ?? SentFormat.firstPayload
                extensions = (1, nil)
                build(text(of: pipeline), servers, orientation: nil, id)
                openChannels()
                viewer?.makeOffer()
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

    /// The maximum number of servers accepted from a peer or a signaling server.
    private static let mostForeignServers = 8

    func build(
        _ text: ViewerPipeline.Text, _ servers: [ICEServer], orientation: Int?,
        _ id: PeerSessionStateMachine.EngineID
    ) {
        let ice = environment.ice
        do throws(InletError) {
            let own = ice.list(for: "inlet", now: HostTime.seconds)
            let all = own + servers.prefix(Self.mostForeignServers)
            let received = ReceivedTrack(caps: nil) { [remoteTrack] in
                remoteTrack.put($0)
            } leaveOut: { [logger, name] in
                logger.warning(
                    "A peer uses more SSRCs than are supported; the packets of additional ones are dropped.",
                    metadata: ["peer": "\(name.prefix(8))"])
            }
            let viewer = try GStreamerPeer(
                text.pipeline, servers: ice.isRelayOnly ? all : hub.stunChoice.reduced(all),
                // The user's settings for their own relays do not apply to relays named by a peer.
                relayTLS: { own.contains($0) ? ice.tls : RelayTLS() }, isRelayOnly: ice.isRelayOnly,
                address: environment.address, closing: hub.closing, orientation: orientation,
                channelLimits: environment.limits, track: isTwoWay ? received : nil, logger: logger
            ) { [weak self] event in
                guard let self else { return }
                queue.async { self.viewerSaid(event, id) }
            }
            if isTwoWay { viewer.hold(remoteTrack.hold ?? Self.usualHold) }
            self.viewer = viewer
        } catch {
            logger.error("\(error)")
            say(id, .failed(.engine))
        }
    }

    /// Queues an engine's event, because the machine is currently handling another one.
    func say(_ id: PeerSessionStateMachine.EngineID, _ event: PeerSessionStateMachine.EngineEvent) {
        queue.async { self.handle(.engine(id, event)) }
    }

    private func viewerSaid(_ event: GStreamerPeer.Event, _ id: PeerSessionStateMachine.EngineID) {
        guard id == engine else { return }
        defer { show() }
        switch event {
        case .remoteSet:
            if remote.kind == .answer { setReceiving() }
            handle(.engine(id, .remoteSet))
        case .localSet(let text):
            if remote.kind == .offer { setReceiving() }
            handle(.engine(id, .localSet(text)))
        case .offerMade(let text):
            furtherOffer = text
            handle(.engine(id, .offerMade(text)))
        case .candidate(let line, let section): handle(.engine(id, .candidate(line, section: section)))
        case .allFound: if let text = viewer?.description { handle(.engine(id, gathered(text))) }
        case .path(let state): handle(.engine(id, .path(state)))
        case .wantsKeyFrame:
            keyFrameRequests += 1
            hub.requestKeyFrame(for: name)
        case .feedback(let feedback):
            guard steering?.add(feedback, at: .now) == true else { break }
            steer()
            handle(.feedback)
        case .arrivals(let arrivals):
            steering?.add(arrivals, at: .now)
            // A report about packets from before a network change does not describe the path after it.
            if !machine.isDoubted || (arrivals.newest ?? .distantFuture) > lastChange { handle(.feedback) }
            steer()
        case .channel(let channel): channels.add(channel)
        case .channelSaid(let channel, let event): channels.handle(event, from: channel)
        case .failed(let message):
            // Before there are two descriptions, the error is in the peer's description, although it passed this
            // side's check.
            let isPeers = [.exchanging, .gathering].contains(machine.state)
            logger.log(level: isPeers ? .debug : .warning, "A peer's pipeline failed: \(Redaction.redact(message))")
            handle(.engine(id, .failed(isPeers ? .malformedDescription : .engine)))
        }
    }

    func steer(isForced: Bool = false) {
        guard var steering else { return }
        let isOther = steering.decide(at: .now)
        self.steering = steering
        guard isOther || isForced else { return }
        hub.set(
            bitrate: limited(steering.bitrate), sustained: limited(steering.sustainedBitrate),
            pausedUntil: steering.pausedUntil,
            of: name)
    }

    private func told(_ state: PeerSessionState) {
        logger.info("A peer is \(state).", metadata: ["peer": "\(name.prefix(8))"])
        switch state {
        case .connected:
            setSending()
            if !hasJoined { environment.broadcast?.tell(.joined(name)) }
            hasJoined = true
            nextInquiry = .now + Self.inquiryInterval
        case .ended(let end):
            remoteTrack.end(end.error)
            environment.broadcast?.tell(.left(currentStatistics, end))
            removeLane()
            nextInquiry = .distantFuture
        default: nextInquiry = .distantFuture
        }
        environment.ledger?.note(state, of: name)
        tell(.state(state))
    }
}

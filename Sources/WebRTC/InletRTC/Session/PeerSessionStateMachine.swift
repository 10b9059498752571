package import InletCore

/// Makes the decisions of a session with a peer, without any thread, clock, network or media engine: its inputs are
/// events with their times, its outputs are actions.
///
/// Messages may arrive in any order, twice, late, or never. Every step has a time-out. A step that fails restarts the
/// whole flow with a new engine while the policy has attempts left; then the session ends with the reason. Engines are
/// numbered; events of an abandoned one change nothing.
package struct PeerSessionStateMachine: Sendable {
    /// Numbers the engines of a session.
    package typealias EngineID = Int

    /// An event.
    package enum Input: Sendable {
        /// The application starts the session.
        case start
        /// The application ends the session.
        case close
        /// The peer's description arrived.
        case description(SessionDescription)
        /// A candidate of the peer arrived.
        case candidate(ICECandidate)
        /// The peer ends the session; nil if signaling does not name the flow.
        case bye(SignalingFlow?)
        /// The peer or its server declines.
        case declined
        /// A message of a flow did not reach the peer. Another flow begins after that time; none does if it is nil.
        case undelivered(SignalingFlow, retryAfter: Duration?)
        /// Signaling has ended: nothing more can arrive. A connection in progress continues.
        case signalingEnded
        /// The flow must restart.
        case restart
        /// The addresses or routes of this machine changed, perhaps so that paths no longer work.
        case networkChanged(mayBreakPaths: Bool)
        /// This side's wishes for the session have changed: they are offered within the living engine.
        case change
        /// An event of an engine.
        case engine(EngineID, EngineEvent)
        /// The peer has reported on what it received.
        case feedback
        /// Time has passed.
        case tick
    }

    /// A report of an engine.
    package enum EngineEvent: Sendable, Hashable {
        /// A description of this side was made and set, as text.
        case localSet(String)
        /// The peer's description is set.
        case remoteSet
        /// A further offer of this side was made, as text. It is not set before the peer has answered it.
        case offerMade(String)
        /// A candidate of this side: its line, and its media section.
        case candidate(String, section: Int)
        /// This side's description with all candidates that were found; also the reply to ``Action/describe(_:)``.
        case gathered(String)
        /// The state of the path.
        case path(PathState)
        /// The engine cannot continue.
        case failed(PeerSessionFailure)
    }

    /// The state of a path.
    package enum PathState: Sendable, Hashable {
        /// Media can flow.
        case up
        /// Media cannot flow now; the path may recover.
        case down
        /// The path does not recover.
        case failed
        /// The peer closed the path.
        case closed
    }

    /// Something to do, in the given order.
    package enum Action: Sendable, Hashable {
        /// Make an engine.
        case open(EngineID)
        /// Release an engine. That may take time; its further events are ignored.
        case close(EngineID)
        /// Make an offer and set it.
        case offer(EngineID)
        /// Set the peer's description.
        case setRemote(EngineID, SessionDescription)
        /// Make an answer and set it.
        case answer(EngineID)
        /// Make a further offer without setting it. The engine stays unchanged until that is answered, so that an offer
        /// that yields to the peer's is forgotten without a rollback.
        case reoffer(EngineID)
        /// Set the peer's further description: an offer, or the answer to this side's further offer, which is set
        /// before.
        case revise(EngineID, SessionDescription)
        /// Add a candidate of the peer.
        case add(EngineID, ICECandidate)
        /// Report this side's description with the candidates found so far.
        case describe(EngineID)
        /// Send a description to the peer.
        case send(SessionDescription)
        /// Send a candidate of this side to the peer.
        case sendCandidate(ICECandidate)
        /// Notify the peer that the session has ended.
        case sendBye(SignalingFlow)
        /// Report a change of state.
        case tell(PeerSessionState)
        /// Report that the peer has agreed to this side's changes.
        case tellAgreed
        /// Report that an attempt failed for the reason of such an end; another follows.
        case tellSetback(PeerSessionEnd)
    }

    enum Phase: Equatable {
        case new
        /// Waiting before a further attempt.
        case waiting(until: MonotonicTime)
        /// Waiting for the peer to restart.
        case awaitingOffer(by: MonotonicTime)
        case offering(by: MonotonicTime)
        /// `isLate`: the time is over, and the engine was asked for the candidates it has.
        case gathering(SessionDescription.Kind, by: MonotonicTime, isLate: Bool)
        case awaitingAnswer(by: MonotonicTime)
        case applying(SessionDescription.Kind, by: MonotonicTime)
        case connecting(by: MonotonicTime)
        case connected(since: MonotonicTime, silentBy: MonotonicTime)
        case broken(by: MonotonicTime)
        case ended(PeerSessionEnd)
    }

    /// The policy of the session.
    package let policy: PeerSessionPolicy
    var phase = Phase.new
    /// The current engine; nil without one.
    var engine: EngineID?
    var flow: SignalingFlow?
    var candidates = CandidateQueue()
    /// Whether the path came up before both descriptions were known here.
    var isPathUp = false
    /// The gathered text, if all candidates of this side were found before its description was set.
    var gatheredText: String?
    /// The exchange of further descriptions within the engine.
    var exchange = Exchange.none
    /// Whether a change has not been offered yet.
    var isChanged = false
    /// Whether this side has ever changed something: the engine of a peer's first offer then lacks it.
    var hasChanged = false
    /// A further offer of the peer that came during another exchange.
    var heldOffer: SessionDescription?
    /// The further offers of the current changes that were not answered.
    var unanswered = 0
    var exchanges = 0
    /// The earliest time of the next further offer, after one that could not be delivered.
    var nextOffer: MonotonicTime?
    /// The identity of the peer's engine.
    var remoteEngine: String?
    /// The version of the peer's last further offer.
    var remoteVersion: SessionDescription.Version?
    /// The flows of further descriptions by which the peer may know the session.
    var furtherFlows: [SignalingFlow] = []
    private var engines = 0
    private var seenOffers: [SignalingFlow] = []
    var attempt = 0
    /// Whether the network changed, and the peer has sent nothing since.
    package internal(set) var isDoubted = false
    private var wasConnected = false
    private var shown = PeerSessionState.new
    private static let rememberedOffers = 32

    /// Whether the engine can be given further descriptions of the peer: otherwise its next offer restarts the session.
    let takesFurtherOffers: Bool

    /// Creates a machine that has not begun.
    package init(_ policy: PeerSessionPolicy, takesFurtherOffers: Bool = true) {
        self.policy = policy
        self.takesFurtherOffers = takesFurtherOffers
    }

    /// The state of the session.
    package var state: PeerSessionState {
        switch phase {
        case .ended(let end): .ended(end)
        case .connected: .connected
        case _ where wasConnected: .reconnecting
        case .new: .new
        case .waiting, .awaitingOffer, .offering, .awaitingAnswer, .applying: .exchanging
        case .gathering: .gathering
        case .connecting, .broken: .connecting
        }
    }

    /// The time when a tick is due; nil if no step is waiting.
    package var deadline: MonotonicTime? { [phaseDeadline, exchangeDeadline].compactMap { $0 }.min() }

    /// The time when the step of the phase has taken too long.
    var phaseDeadline: MonotonicTime? {
        switch phase {
        case .new, .ended: nil
        case .waiting(let time), .awaitingOffer(let time), .offering(let time), .gathering(_, let time, _),
            .awaitingAnswer(let time), .applying(_, let time), .connecting(let time), .connected(_, let time),
            .broken(let time):
            time
        }
    }

    /// Handles an event.
    ///
    /// - Returns: the actions.
    package mutating func handle(_ input: Input, at now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        if case .ended = phase { return actions }
        switch input {
        case .start: if phase == .new, policy.role == .offering { begin(now, &actions) }
        case .close: end(.local, &actions)
        case .description(let description):
            switch description.kind {
            case .offer: offerCame(description, now, &actions)
            case .answer: answerCame(description, now, &actions)
            }
        case .candidate(let candidate):
            if candidates.add(candidate) == .ready, let engine { actions.append(.add(engine, candidate)) }
        case .bye(let flow): if isOwn(flow) { end(.remote, &actions) }
        case .declined: end(.declined, &actions)
        case .undelivered(let flow, let wait):
            if exchangeUndelivered(flow, retryAfter: wait, now, &actions) { break }
            guard flow == self.flow, !isConnected else { break }
            guard let wait else {
                end(.declined, &actions)
                break
            }
            // The sender knows why the message was not delivered.
            retry(orEnd: .timedOut(.exchanging), isTold: false, after: wait, now, &actions)
        case .signalingEnded:
            switch phase {
            case .connecting, .connected, .broken, .ended: break
            default: end(.remote, &actions)
            }
        case .restart: restart(now, &actions)
        case .change: change()
        case .engine(let id, let event): if id == engine { engineSaid(event, now, &actions) }
        case .networkChanged(let mayBreakPaths): networkChanged(mayBreakPaths: mayBreakPaths, now, &actions)
        case .feedback:
            isDoubted = false
            if case .connected(let since, _) = phase {
                phase = .connected(since: since, silentBy: now + policy.silence)
            }
        case .tick: tick(now, &actions)
        }
        beginExchange(now, &actions)
        if state != shown {
            shown = state
            actions.append(.tell(state))
        }
        return actions
    }

    /// Whether media flows, or did a moment ago: signaling then has no effect on it.
    private var isConnected: Bool {
        switch phase {
        case .connected, .broken: true
        default: false
        }
    }

    // MARK: Descriptions

    private mutating func offerCame(
        _ offer: SessionDescription, _ now: MonotonicTime, _ actions: inout [Action]
    ) {
        guard !seenOffers.contains(offer.flow), offer.flow != flow else { return }
        seenOffers.append(offer.flow)
        if seenOffers.count > Self.rememberedOffers { seenOffers.removeFirst() }
        if continues(offer) { return furtherOfferCame(offer, now, &actions) }
        switch phase {
        case .offering, .awaitingAnswer, .gathering(.offer, _, _):
            // Both sides have offered. One of the two yields.
            guard policy.yields else { return candidates.close(offer.flow) }
        default: break
        }
        let id = replaceEngine(&actions)
        (flow, remoteEngine, isChanged) = (offer.flow, offer.engine, hasChanged)
        phase = .applying(.offer, by: now + policy.exchange)
        actions.append(.setRemote(id, offer))
    }

    private mutating func answerCame(
        _ answer: SessionDescription, _ now: MonotonicTime, _ actions: inout [Action]
    ) {
        if furtherAnswerCame(answer, now, &actions) { return }
        guard case .awaitingAnswer = phase, answer.flow == flow, let engine else { return }
        remoteEngine = answer.engine
        phase = .applying(.answer, by: now + policy.exchange)
        actions.append(.setRemote(engine, answer))
    }

    /// Begins a flow of this side.
    mutating func begin(_ now: MonotonicTime, _ actions: inout [Action]) {
        let id = replaceEngine(&actions)
        flow = SignalingFlow("\(policy.name)-\(id)")
        phase = .offering(by: now + policy.exchange)
        actions.append(.offer(id))
    }

    private mutating func replaceEngine(_ actions: inout [Action]) -> EngineID {
        dropEngine(&actions)
        engines += 1
        engine = engines
        actions.append(.open(engines))
        return engines
    }

    private mutating func dropEngine(_ actions: inout [Action]) {
        if let engine { actions.append(.close(engine)) }
        if let flow { candidates.close(flow) }
        (engine, flow, isPathUp, gatheredText) = (nil, nil, false, nil)
        dropExchange()
    }

    // MARK: Ends

    mutating func connected(_ now: MonotonicTime) {
        phase = .connected(since: now, silentBy: now + policy.silence)
        (wasConnected, isDoubted) = (true, false)
    }

    /// Handles a failed step: the flow restarts, or the session ends.
    ///
    /// - Parameters:
    ///   - isTold: false if the reason is reported elsewhere.
    ///   - wait: the least time before the restart.
    mutating func retry(
        orEnd end: PeerSessionEnd, isTold: Bool = true, after wait: Duration = .zero, _ now: MonotonicTime,
        _ actions: inout [Action]
    ) {
        if case .connected(let since, _) = phase, now - since >= policy.healthy { attempt = 0 }
        guard attempt < policy.attempts else { return self.end(end, &actions) }
        attempt += 1
        dropEngine(&actions)
        if isTold, end.error != nil { actions.append(.tellSetback(end)) }
        switch policy.role {
        case .answering: phase = .awaitingOffer(by: now + policy.exchange)
        case .offering:
            let delay = max(wait, policy.delay(beforeAttempt: attempt))
            guard delay > .zero else { return begin(now, &actions) }
            phase = .waiting(until: now + delay)
        }
    }

    /// Begins another flow at the application's request, which does not count as a failed attempt.
    private mutating func restart(_ now: MonotonicTime, _ actions: inout [Action]) {
        guard phase != .new else { return }
        attempt = 0
        switch policy.role {
        case .offering: begin(now, &actions)
        case .answering:
            // The end of the path makes the peer offer again.
            dropEngine(&actions)
            phase = .awaitingOffer(by: now + policy.exchange)
        }
    }

    mutating func end(_ end: PeerSessionEnd, _ actions: inout [Action]) {
        if let flow, end != .remote, end != .declined { actions.append(.sendBye(flow)) }
        dropEngine(&actions)
        phase = .ended(end)
    }
}

package import InletCore

/// What a session with a peer decides, without any thread, clock, network or media engine: it is told what happened and
/// when, and answers what to do.
///
/// Messages may come in any order, twice, late, or never. Every step has a time-out. A step that fails begins the whole
/// flow anew with a new engine, as long as the policy has attempts; then the session ends and says why. Engines are
/// numbered; word of one that was given up changes nothing.
package struct PeerSessionStateMachine: Sendable {
    /// Numbers the engines of a session.
    package typealias EngineID = Int

    /// Something that happened.
    package enum Input: Sendable {
        /// The application wants the session.
        case start
        /// The application wants it no more.
        case close
        /// The peer's description came.
        case description(SessionDescription)
        /// A candidate of the peer came.
        case candidate(ICECandidate)
        /// The peer says that it ends; nil where signaling does not tell which flow that is about.
        case bye(SignalingFlow?)
        /// The peer or its server refuses.
        case declined
        /// A message of a flow did not get to the peer. Another flow begins after that time, or none where it is nil.
        case undelivered(SignalingFlow, retryAfter: Duration?)
        /// Signaling is over: nothing can come any more. What is on its way to be connected goes on.
        case signalingEnded
        /// The flow is to begin anew.
        case restart
        /// Word of an engine.
        case engine(EngineID, EngineEvent)
        /// The peer has reported on what it got.
        case feedback
        /// Time has passed.
        case tick
    }

    /// What an engine says.
    package enum EngineEvent: Sendable, Hashable {
        /// A description of ours was made and is set, as text.
        case localSet(String)
        /// The peer's description is set.
        case remoteSet
        /// A candidate of ours: its line, and its media section.
        case candidate(String, section: Int)
        /// Our description with all candidates that were found; also the answer to ``Action/describe(_:)``.
        case gathered(String)
        /// How the path is.
        case path(PathState)
        /// It cannot go on.
        case failed(PeerSessionFailure)
    }

    /// How a path is.
    package enum PathState: Sendable, Hashable {
        /// Media can flow.
        case up
        /// Not now; it may come back by itself.
        case down
        /// It does not come back.
        case failed
        /// The peer closed it.
        case closed
    }

    /// Something to do, in the order given.
    package enum Action: Sendable, Hashable {
        /// Make an engine.
        case open(EngineID)
        /// Let go of one. It may take its time; nothing that it says counts any more.
        case close(EngineID)
        /// Make an offer and set it.
        case offer(EngineID)
        /// Set the peer's description.
        case setRemote(EngineID, SessionDescription)
        /// Make an answer and set it.
        case answer(EngineID)
        /// Add a candidate of the peer.
        case add(EngineID, ICECandidate)
        /// Say the own description with the candidates that there are.
        case describe(EngineID)
        /// Send to the peer.
        case send(SessionDescription)
        /// Send a candidate of ours to the peer.
        case sendCandidate(ICECandidate)
        /// Tell the peer that the session is over.
        case sendBye(SignalingFlow)
        /// The state is another.
        case tell(PeerSessionState)
        /// An attempt failed for the reason of such an end; another follows.
        case tellSetback(PeerSessionEnd)
    }

    enum Phase: Equatable {
        case new
        /// Before a further attempt.
        case waiting(until: MonotonicTime)
        /// Waiting for the peer to begin anew.
        case awaitingOffer(by: MonotonicTime)
        case offering(by: MonotonicTime)
        /// `isLate`: the time is over, and the engine was asked for what it has.
        case gathering(SessionDescription.Kind, by: MonotonicTime, isLate: Bool)
        case awaitingAnswer(by: MonotonicTime)
        case applying(SessionDescription.Kind, by: MonotonicTime)
        case connecting(by: MonotonicTime)
        case connected(since: MonotonicTime, silentBy: MonotonicTime)
        case broken(by: MonotonicTime)
        case ended(PeerSessionEnd)
    }

    /// What it goes by.
    package let policy: PeerSessionPolicy
    var phase = Phase.new
    /// The engine that counts; nil where there is none.
    var engine: EngineID?
    var flow: SignalingFlow?
    var candidates = CandidateQueue()
    /// The path came up before both descriptions were known here.
    var isPathUp = false
    /// All of our candidates were found before our description was set.
    var gatheredText: String?
    private var engines = 0
    private var seenOffers: [SignalingFlow] = []
    private var attempt = 0
    private var wasConnected = false
    private var shown = PeerSessionState.new
    private static let rememberedOffers = 32

    package init(_ policy: PeerSessionPolicy) { self.policy = policy }

    /// How far the session is.
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

    /// When a tick is due; nil while nothing is waited for.
    package var deadline: MonotonicTime? {
        switch phase {
        case .new, .ended: nil
        case .waiting(let time), .awaitingOffer(let time), .offering(let time), .gathering(_, let time, _),
            .awaitingAnswer(let time), .applying(_, let time), .connecting(let time), .connected(_, let time),
            .broken(let time):
            time
        }
    }

    /// Takes in what happened.
    ///
    /// - Returns: what to do about it.
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
        case .bye(let flow): if flow == nil || flow == self.flow { end(.remote, &actions) }
        case .declined: end(.declined, &actions)
        case .undelivered(let flow, let wait):
            guard flow == self.flow, !isConnected else { break }
            guard let wait else {
                end(.declined, &actions)
                break
            }
            // Why it did not get there is known to whoever sends.
            retry(orEnd: .timedOut(.exchanging), isTold: false, after: wait, now, &actions)
        case .signalingEnded:
            switch phase {
            case .connecting, .connected, .broken, .ended: break
            default: end(.remote, &actions)
            }
        case .restart: restart(now, &actions)
        case .engine(let id, let event): if id == engine { engineSaid(event, now, &actions) }
        case .feedback:
            if case .connected(let since, _) = phase {
                phase = .connected(since: since, silentBy: now + policy.silence)
            }
        case .tick: tick(now, &actions)
        }
        if state != shown {
            shown = state
            actions.append(.tell(state))
        }
        return actions
    }

    /// Whether media flows, or did a moment ago: what signaling says then is of no matter to it.
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
        switch phase {
        case .offering, .awaitingAnswer, .gathering(.offer, _, _):
            // Both have offered. One of the two gives way.
            guard policy.yields else { return candidates.close(offer.flow) }
        default: break
        }
        let id = replaceEngine(&actions)
        flow = offer.flow
        phase = .applying(.offer, by: now + policy.exchange)
        actions.append(.setRemote(id, offer))
    }

    private mutating func answerCame(
        _ answer: SessionDescription, _ now: MonotonicTime, _ actions: inout [Action]
    ) {
        guard case .awaitingAnswer = phase, answer.flow == flow, let engine else { return }
        phase = .applying(.answer, by: now + policy.exchange)
        actions.append(.setRemote(engine, answer))
    }

    /// Begins a flow of our own.
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
    }

    // MARK: Ends

    mutating func connected(_ now: MonotonicTime) {
        phase = .connected(since: now, silentBy: now + policy.silence)
        wasConnected = true
    }

    /// A step failed: the flow begins anew, or the session is over.
    ///
    /// - Parameters:
    ///   - isTold: false where others have told the reason.
    ///   - wait: the least time before it begins.
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

    /// The application wants another flow, which is no failed attempt.
    private mutating func restart(_ now: MonotonicTime, _ actions: inout [Action]) {
        guard phase != .new else { return }
        attempt = 0
        switch policy.role {
        case .offering: begin(now, &actions)
        case .answering:
            // The peer takes the end of the path for a reason to offer anew.
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

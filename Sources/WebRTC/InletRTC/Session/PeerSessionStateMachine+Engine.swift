import InletCore

// Events of engines, and time-outs.
extension PeerSessionStateMachine {
    mutating func engineSaid(_ event: EngineEvent, _ now: MonotonicTime, _ actions: inout [Action]) {
        guard let engine, !exchangeSaid(event, engine, now, &actions) else { return }
        switch event {
        case .localSet(let text): localSet(text, now, &actions)
        case .remoteSet: remoteSet(engine, now, &actions)
        case .candidate(let line, let section):
            guard policy.trickles, let flow else { return }
            actions.append(.sendCandidate(ICECandidate(line: line, section: section, flow: flow)))
        case .gathered(let text):
            gatheredText = text
            if case .gathering(let kind, _, _) = phase { send(kind, text, now, &actions) }
        case .path(let path): pathIs(path, now, &actions)
        case .failed(let failure): failed(failure, now, &actions)
        case .offerMade: break
        }
    }

    private mutating func localSet(_ text: String, _ now: MonotonicTime, _ actions: inout [Action]) {
        let kind: SessionDescription.Kind
        switch phase {
        case .offering: kind = .offer
        case .applying(.offer, _): kind = .answer
        default: return
        }
        if policy.trickles {
            send(kind, text, now, &actions)
        } else if let gatheredText {
            send(kind, gatheredText, now, &actions)
        } else {
            phase = .gathering(kind, by: now + policy.gathering, isLate: false)
        }
    }

    private mutating func remoteSet(_ engine: EngineID, _ now: MonotonicTime, _ actions: inout [Action]) {
        guard case .applying(let kind, _) = phase, let flow else { return }
        actions += candidates.open(flow).map { .add(engine, $0) }
        switch kind {
        case .offer: actions.append(.answer(engine))
        case .answer: connect(now)
        }
    }

    private mutating func send(
        _ kind: SessionDescription.Kind, _ text: String, _ now: MonotonicTime, _ actions: inout [Action]
    ) {
        guard let flow else { return }
        actions.append(.send(SessionDescription(kind: kind, sdp: text, flow: flow)))
        switch kind {
        case .offer: phase = .awaitingAnswer(by: now + policy.exchange)
        case .answer: connect(now)
        }
    }

    private mutating func connect(_ now: MonotonicTime) {
        if isPathUp { connected(now) } else { phase = .connecting(by: now + policy.connecting) }
    }

    private mutating func pathIs(_ path: PathState, _ now: MonotonicTime, _ actions: inout [Action]) {
        isPathUp = path == .up
        switch (path, phase) {
        case (.up, .connecting), (.up, .broken): connected(now)
        case (.down, .connected): phase = .broken(by: now + policy.reconnecting)
        // Also if the peer restarts: its next offer then follows.
        case (.closed, _): retry(orEnd: .remote, now, &actions)
        case (.failed, _): failed(.noPath, now, &actions)
        default: break
        }
    }

    private mutating func failed(_ failure: PeerSessionFailure, _ now: MonotonicTime, _ actions: inout [Action]) {
        switch failure {
        // The peer's description does not change when it is requested again.
        case .malformedDescription, .noCommonCodec, .limit: end(.failed(failure), &actions)
        case .noPath, .noRelay, .relayTLS, .encryption, .engine, .networkChanged:
            retry(orEnd: .failed(failure), now, &actions)
        }
    }

    mutating func tick(_ now: MonotonicTime, _ actions: inout [Action]) {
        exchangeTick(now, &actions)
        guard let phaseDeadline, now >= phaseDeadline else { return }
        switch phase {
        case .new, .ended: break
        case .waiting: begin(now, &actions)
        case .gathering(let kind, _, isLate: false):
            phase = .gathering(kind, by: now + policy.exchange, isLate: true)
            if let engine { actions.append(.describe(engine)) }
        // The reason for waiting was reported already.
        case .awaitingOffer: retry(orEnd: .timedOut(.exchanging), isTold: false, now, &actions)
        case .offering, .gathering, .awaitingAnswer, .applying:
            retry(orEnd: .timedOut(.exchanging), now, &actions)
        case .connecting: retry(orEnd: .timedOut(.connecting), now, &actions)
        case .connected where isDoubted: beginElsewhere(now, &actions)
        case .connected: retry(orEnd: .timedOut(.connected), now, &actions)
        case .broken: retry(orEnd: .timedOut(.reconnecting), now, &actions)
        }
    }
}

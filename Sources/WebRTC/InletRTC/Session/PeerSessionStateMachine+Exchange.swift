import InletCore

// Further offers and answers within a living engine, by either side at any time.
extension PeerSessionStateMachine {
    /// An exchange of further descriptions.
    enum Exchange: Equatable {
        case none
        /// The engine makes this side's offer.
        case offering(SignalingFlow, by: MonotonicTime)
        case awaitingAnswer(SignalingFlow, by: MonotonicTime)
        /// The peer's offer or answer is being set.
        case applying(SessionDescription.Kind, SignalingFlow, by: MonotonicTime)
    }

    /// The number of times that changes are offered before the peer counts as unwilling.
    private static let mostOffers = 3
    private static let mostFlows = 32

    var exchangeDeadline: MonotonicTime? {
        switch exchange {
        case .none: isChanged && isNegotiable ? nextOffer : nil
        case .offering(_, let time), .awaitingAnswer(_, let time), .applying(_, _, let time): time
        }
    }

    /// Whether both first descriptions are set.
    private var isNegotiable: Bool {
        switch phase {
        case .connecting, .connected, .broken: true
        default: false
        }
    }

    /// Whether this side may offer: without a path, candidates of the first flow may still be on their way.
    private var mayOffer: Bool {
        switch phase {
        case .connected, .broken: true
        default: false
        }
    }

    /// Returns whether a flow belongs to this session: peers may know it by a flow that this side has not adopted.
    func isOwn(_ flow: SignalingFlow?) -> Bool {
        flow.map { $0 == self.flow || furtherFlows.contains($0) } ?? true
    }

    // MARK: This side's changes

    mutating func change() {
        hasChanged = true
        // Without an engine, the wishes are in the first offer.
        guard engine != nil else { return }
        (isChanged, unanswered, nextOffer) = (true, 0, nil)
    }

    /// Begins the next waiting exchange: the peer's offer before this side's.
    mutating func beginExchange(_ now: MonotonicTime, _ actions: inout [Action]) {
        guard exchange == .none, isNegotiable, let engine else { return }
        if let offer = heldOffer {
            heldOffer = nil
            return apply(offer, now, &actions)
        }
        guard isChanged, mayOffer, nextOffer.map({ $0 <= now }) ?? true else { return }
        exchanges += 1
        let flow = SignalingFlow("\(policy.name)-\(engine)-\(exchanges)")
        (isChanged, nextOffer) = (false, nil)
        exchange = .offering(flow, by: now + policy.exchange)
        actions.append(.reoffer(engine))
    }

    /// Forgets an offer of this side, which must be made again.
    private mutating func dropOffer() {
        (exchange, isChanged) = (.none, true)
    }

    mutating func dropExchange() {
        (exchange, heldOffer, remoteEngine, nextOffer) = (.none, nil, nil, nil)
        (isChanged, unanswered, furtherFlows, remoteVersion) = (false, 0, [], nil)
    }

    private mutating func remember(_ flow: SignalingFlow) {
        guard !furtherFlows.contains(flow) else { return }
        furtherFlows.append(flow)
        if furtherFlows.count > Self.mostFlows { furtherFlows.removeFirst() }
    }

    // MARK: Descriptions

    /// Returns whether an offer is a further one of the peer's engine, instead of the first of another.
    func continues(_ offer: SessionDescription) -> Bool {
        guard takesFurtherOffers, engine != nil, let remoteEngine, offer.engine == remoteEngine else { return false }
        if case .applying(.answer, _) = phase { return true }
        return isNegotiable
    }

    mutating func furtherOfferCame(_ offer: SessionDescription, _ now: MonotonicTime, _ actions: inout [Action]) {
        // An overtaken offer states what the peer no longer wants.
        if let version = offer.version, let last = remoteVersion, version.isBefore(last) { return }
        guard isNegotiable else { return heldOffer = offer }
        switch exchange {
        case .none: apply(offer, now, &actions)
        case .offering, .awaitingAnswer:
            // Both sides have offered. One of the two yields.
            guard policy.yields else { return candidates.close(offer.flow) }
            dropOffer()
            apply(offer, now, &actions)
        case .applying:
            if let version = offer.version, let held = heldOffer?.version, version.isBefore(held) { break }
            heldOffer = offer
        }
    }

    private mutating func apply(_ offer: SessionDescription, _ now: MonotonicTime, _ actions: inout [Action]) {
        guard let engine else { return }
        remember(offer.flow)
        // The peer responds, so earlier unanswered offers no longer count.
        (unanswered, remoteVersion) = (0, offer.version ?? remoteVersion)
        exchange = .applying(.offer, offer.flow, by: now + policy.exchange)
        actions.append(.revise(engine, offer))
    }

    /// - Returns: whether the answer is one to a further offer.
    mutating func furtherAnswerCame(
        _ answer: SessionDescription, _ now: MonotonicTime, _ actions: inout [Action]
    ) -> Bool {
        guard case .awaitingAnswer(answer.flow, _) = exchange, let engine else { return false }
        guard answer.engine == remoteEngine else {
            // The peer has restarted meanwhile, with an engine that does not know this one.
            retry(orEnd: .timedOut(.exchanging), isTold: false, now, &actions)
            return true
        }
        exchange = .applying(.answer, answer.flow, by: now + policy.exchange)
        actions.append(.revise(engine, answer))
        return true
    }

    /// - Returns: whether the event was one of an exchange.
    mutating func exchangeSaid(
        _ event: EngineEvent, _ engine: EngineID, _ now: MonotonicTime, _ actions: inout [Action]
    ) -> Bool {
        switch (exchange, event) {
        case (.offering(let flow, _), .offerMade(let text)):
            remember(flow)
            actions.append(.send(SessionDescription(kind: .offer, sdp: text, flow: flow)))
            exchange = .awaitingAnswer(flow, by: now + policy.exchange)
        case (.applying(.offer, let flow, _), .remoteSet):
            actions += candidates.open(flow, continues: true).map { .add(engine, $0) }
            actions.append(.answer(engine))
        case (.applying(.offer, let flow, _), .localSet(let text)):
            actions.append(.send(SessionDescription(kind: .answer, sdp: text, flow: flow)))
            adopt(flow)
        case (.applying(.answer, let flow, _), .remoteSet):
            actions += candidates.open(flow, continues: true).map { .add(engine, $0) }
            adopt(flow)
            unanswered = 0
            actions.append(.tellAgreed)
        default: return false
        }
        return true
    }

    /// Names the session after an exchange that both sides know to be complete.
    private mutating func adopt(_ flow: SignalingFlow) {
        if let old = self.flow { remember(old) }
        (self.flow, exchange) = (flow, .none)
    }

    // MARK: Lost messages

    mutating func exchangeTick(_ now: MonotonicTime, _ actions: inout [Action]) {
        guard let exchangeDeadline, now >= exchangeDeadline else { return }
        switch exchange {
        case .none: break
        // Media continues in any case: an unanswered offer is abandoned, not the session.
        case .awaitingAnswer:
            unanswered += 1
            dropOffer()
            guard unanswered >= Self.mostOffers else { break }
            (isChanged, unanswered) = (false, 0)
            actions.append(.tellSetback(.timedOut(.exchanging)))
        case .offering, .applying: retry(orEnd: .timedOut(.exchanging), now, &actions)
        }
    }

    /// - Returns: whether the message was a further offer.
    mutating func exchangeUndelivered(
        _ flow: SignalingFlow, retryAfter wait: Duration?, _ now: MonotonicTime, _ actions: inout [Action]
    ) -> Bool {
        guard case .awaitingAnswer(flow, _) = exchange else { return false }
        dropOffer()
        unanswered += 1
        if let wait, unanswered < Self.mostOffers {
            nextOffer = now + wait
        } else {
            (isChanged, unanswered) = (false, 0)
            actions.append(.tellSetback(.declined))
        }
        return true
    }
}

extension SessionDescription {
    /// The version of a session's description, by its origin (`o=`, RFC 8866, 5.2; RFC 8829, 5.2.2).
    package struct Version: Sendable, Hashable {
        var session: [UInt8]
        var number: Int

        /// Returns whether another of the same session came later.
        func isBefore(_ other: Version) -> Bool { session == other.session && number < other.number }
    }

    /// The version; nil if the origin does not contain it.
    package var version: Version? {
        guard let line = TextBytes.lines(sdp.utf8).first(where: { $0.starts(with: "o=".utf8) }) else { return nil }
        let words = line.split(separator: UInt8(ascii: " "))
        guard words.count > 2, let number = TextBytes.number(words[2]) else { return nil }
        return Version(session: Array(words[1]), number: number)
    }

    /// The identity of the engine that made this: the fingerprint of its certificate and its ICE credentials; nil if
    /// the text has none.
    ///
    /// Every further offer and answer of an engine has the same. The origin (`o=`) is unsuitable: not all software
    /// keeps its session number.
    package var engine: String? {
        var found: [String: String] = [:]
        for line in TextBytes.lines(sdp.utf8) {
            for name in ["a=fingerprint:", "a=ice-ufrag:", "a=ice-pwd:"] where line.starts(with: name.utf8) {
                found[name] = found[name] ?? String(decoding: line, as: UTF8.self).lowercasedASCII
            }
        }
        guard found["a=fingerprint:"] != nil else { return nil }
        return found.sorted { $0.key < $1.key }.map(\.value).joined(separator: " ")
    }
}

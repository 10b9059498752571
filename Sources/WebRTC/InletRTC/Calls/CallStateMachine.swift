package import InletCore

/// Makes the decisions of one side's calls, without any thread, clock, network or media: its inputs are events with
/// their times, its outputs are actions.
///
/// Messages may arrive in any order, twice, late, or never; each step has a time-out. The caller decides: the called
/// peer proposes an end and waits, for a bounded time, until the caller reports how the call has ended. So both sides
/// report the same, whatever crosses. If two calls between the same peers cross, the one whose name precedes the
/// other's continues, and is answered without asking, because both sides want it.
package struct CallStateMachine: Sendable {
    /// An event.
    package enum Input: Sendable {
        /// The application calls a peer, by a new name.
        case place(CallID, PeerID)
        /// The call that has arrived may ring.
        case admit(CallID)
        /// The application answers the ringing call.
        case answer(CallID)
        /// The application declines the call, with its explanation.
        case decline(CallID, String?)
        /// The application has no time for the call.
        case refuse(CallID, retryAfter: Duration?)
        /// The application cancels the call, declines it or hangs up, depending on the call's state.
        case hangUp(CallID)
        /// A message has arrived.
        case message(CallMessage, from: PeerID)
        /// Media flows both ways.
        case mediaUp(CallID)
        /// Media cannot flow, or no longer.
        case mediaFailed(CallID, String)
        /// The peer is present.
        case present(PeerID)
        /// The peer has left signaling.
        case absent(PeerID)
        /// The peer has restarted and does not know its calls.
        case reset(PeerID)
        /// Time has passed.
        case tick
    }

    /// Something to do, in the given order.
    package enum Action: Sendable, Hashable {
        /// Send a message.
        case send(CallMessage, to: PeerID)
        /// A call has arrived: decide whether it may ring, and report it by ``Input/admit(_:)`` or otherwise.
        case ask(CallID, PeerID)
        /// Connect media both ways.
        case openMedia(CallID, PeerID)
        /// Close media.
        case closeMedia(CallID)
        /// Report a call's state; the first report of an incoming call is that it rings.
        case tell(CallID, CallState)
        /// Report that a call continues under another name, given by the peer.
        case tellJoined(CallID, into: CallID)
    }

    let me: PeerID
    let policy: CallPolicy
    /// The running calls, and the last ended ones.
    var legs: [CallLeg] = []
    /// The names of both sides' calls that continue under another name, the newest last.
    var joined: [(from: CallID, into: CallID)] = []
    var actions: [Action] = []
    /// The number of ended calls that are remembered.
    static let mostRemembered = 64

    package init(_ policy: CallPolicy, localID: PeerID) {
        self.policy = policy
        me = localID
    }

    /// The time when the next ``Input/tick`` is due; nil without one.
    package var deadline: MonotonicTime? {
        let next = legs.map(\.earliestDeadline).min() ?? .distantFuture
        return next == .distantFuture ? nil : next
    }

    /// The state of a call; nil if it is unknown, or was forgotten.
    package func state(of call: CallID) -> CallState? { leg(call).map { legs[$0].state } }

    /// The running calls, in the order of their arrival.
    package var running: [CallID] { legs.filter(\.isRunning).map(\.id) }

    /// The peer of a call; nil if the call is unknown, or was forgotten.
    package func peer(of call: CallID) -> PeerID? { leg(call).map { legs[$0].peer } }

    /// Whether the peer has yet to confirm the end of a call that has ended for this side.
    package var isSettling: Bool {
        legs.contains { leg in
            switch leg.phase {
            case .ending: true
            case .ended: leg.pending != nil
            default: false
            }
        }
    }

    /// Handles an input.
    ///
    /// - Returns: the actions, in order.
    package mutating func handle(_ input: Input, at now: MonotonicTime) -> [Action] {
        actions = []
        switch input {
        case .place(let id, let peer): place(id, peer, at: now)
        case .admit(let id): admit(id, at: now)
        case .answer(let id): answer(id, at: now)
        case .decline(let id, let text): refuse(id, .declined(text), at: now)
        case .refuse(let id, let wait): refuse(id, .busy(retryAfter: wait), at: now)
        case .hangUp(let id): hangUp(id, at: now)
        case .message(let message, let peer): take(message, from: peer, at: now)
        case .mediaUp(let id):
            guard let index = leg(id), legs[index].phase == .connecting else { break }
            legs[index].phase = .connected
            (legs[index].deadline, legs[index].absenceEnd) = (.distantFuture, .distantFuture)
            if !legs[index].isCaller { legs[index].stopRepeating() }
            tell(index)
        case .mediaFailed(let id, let text):
            guard let index = leg(id), legs[index].hasMedia else { break }
            finish(index, CallEnd(by: me, .failed(text)), at: now)
        case .present(let peer):
            for index in legs.indices where legs[index].peer == peer { legs[index].absenceEnd = .distantFuture }
        case .absent(let peer): absent(peer, at: now)
        case .reset(let peer): reset(peer, at: now)
        case .tick: break
        }
        timePassed(at: now)
        forget()
        return actions
    }

    func leg(_ id: CallID) -> Int? { legs.firstIndex { $0.id == id } }

    // MARK: The application

    private mutating func place(_ id: CallID, _ peer: PeerID, at now: MonotonicTime) {
        guard leg(id) == nil else { return }
        if let index = legs.firstIndex(where: { $0.peer == peer && ($0.phase == .arriving || $0.phase == .ringing) }),
            !legs[index].isCaller
        {
            // The peer calls already: use that call.
            join(id, into: legs[index].id)
            answer(legs[index].id, at: now)
            return
        }
        var leg = CallLeg(id, with: peer, isCaller: true, phase: .calling, until: now + policy.reaching)
        if peer == me || legs.contains(where: \.isRunning) {
            let end = CallEnd(by: me, peer == me ? .failed("A peer cannot call itself.") : .busy(retryAfter: nil))
            (leg.phase, leg.deadline) = (.ended(end), .distantFuture)
            legs.append(leg)
            return tell(legs.count - 1)
        }
        leg.ringingEnd = now + policy.ringing
        legs.append(leg)
        tell(legs.count - 1)
        send(.invite, legs.count - 1, at: now, repeating: true)
    }

    private mutating func admit(_ id: CallID, at now: MonotonicTime) {
        guard let index = leg(id), legs[index].phase == .arriving else { return }
        legs[index].phase = .ringing
        tell(index)
        send(.ringing, index, at: now, repeating: false)
    }

    private mutating func answer(_ id: CallID, at now: MonotonicTime) {
        guard let index = leg(id), !legs[index].isCaller,
            legs[index].phase == .ringing || legs[index].phase == .arriving
        else { return }
        // A side has one call; a waiting call keeps waiting.
        for other in legs.indices where other != index && legs[other].isRunning {
            if legs[other].hasMedia || legs[other].isCaller { hangUp(legs[other].id, at: now) }
        }
        legs[index].phase = .connecting
        (legs[index].deadline, legs[index].ringingEnd) = (now + policy.connecting + policy.patience, .distantFuture)
        send(.accept, index, at: now, repeating: true)
        tell(index)
        actions.append(.openMedia(id, legs[index].peer))
    }

    private mutating func refuse(_ id: CallID, _ reason: CallEnd.Reason, at now: MonotonicTime) {
        guard let index = leg(id), !legs[index].isCaller,
            legs[index].phase == .ringing || legs[index].phase == .arriving
        else { return }
        finish(index, CallEnd(by: me, reason), at: now)
    }

    private mutating func hangUp(_ id: CallID, at now: MonotonicTime) {
        guard let index = leg(id), legs[index].isRunning else { return }
        let isUnanswered = !legs[index].hasMedia
        let reason: CallEnd.Reason =
            if !isUnanswered { .hungUp } else if legs[index].isCaller { .cancelled } else { .declined(nil) }
        finish(index, CallEnd(by: me, reason), at: now)
    }

    // MARK: Peers and time

    private mutating func absent(_ peer: PeerID, at now: MonotonicTime) {
        for index in legs.indices where legs[index].peer == peer {
            switch legs[index].phase {
            case .calling, .arriving, .ringing, .connecting:
                legs[index].absenceEnd = min(legs[index].absenceEnd, now + policy.absence)
            // Media shows whether the peer is present.
            case .connected: break
            // The peer no longer answers.
            case .ending(let end): settle(index, end)
            case .ended: legs[index].stopRepeating()
            }
        }
    }

    private mutating func reset(_ peer: PeerID, at now: MonotonicTime) {
        for index in legs.indices where legs[index].peer == peer {
            switch legs[index].phase {
            case .calling:
                // It may not know of the call, or must ring again.
                send(.invite, index, at: now, repeating: true)
            case .arriving, .ringing, .connecting, .connected:
                let end = CallEnd(by: peer, .failed("The peer started again."))
                send(.ended(end), index, at: now, repeating: false)
                closeMedia(index)
                settle(index, end)
            case .ending(let end): settle(index, end)
            case .ended: legs[index].stopRepeating()
            }
        }
    }

    private mutating func timePassed(at now: MonotonicTime) {
        for index in legs.indices {
            if now >= legs[index].absenceEnd {
                finish(index, CallEnd(by: legs[index].peer, .failed("The peer left.")), at: now)
            }
            if now >= min(legs[index].deadline, legs[index].ringingEnd) { deadlinePassed(index, at: now) }
            if let content = legs[index].takeRepeat(at: now) {
                actions.append(.send(CallMessage(legs[index].id, content), to: legs[index].peer))
            }
        }
    }

    private mutating func deadlinePassed(_ index: Int, at now: MonotonicTime) {
        let leg = legs[index]
        switch leg.phase {
        case .calling: finish(index, CallEnd(by: leg.peer, .timedOut(.reaching)), at: now)
        case .arriving, .ringing:
            finish(index, CallEnd(by: leg.isCaller ? leg.peer : me, .missed), at: now)
        case .connecting: finish(index, CallEnd(by: me, .timedOut(.connecting)), at: now)
        case .connected: legs[index].deadline = .distantFuture
        case .ending(let end): settle(index, end)
        case .ended:
            // The peer did not confirm the end: it is gone.
            legs[index].stopRepeating()
            (legs[index].deadline, legs[index].ringingEnd) = (.distantFuture, .distantFuture)
        }
    }

    private mutating func forget() {
        while legs.count > Self.mostRemembered, let index = legs.firstIndex(where: { $0.end != nil }) {
            legs.remove(at: index)
        }
        if joined.count > Self.mostRemembered { joined.removeFirst(joined.count - Self.mostRemembered) }
    }
}

import InletCore

/// The effects of messages on calls.
extension CallStateMachine {
    mutating func take(_ message: CallMessage, from peer: PeerID, at now: MonotonicTime) {
        guard peer != me else { return }
        if case .tracks = message.content { return }
        if case .invite = message.content { return takeInvite(message.call, from: peer, at: now) }
        guard let index = leg(message.call) else { return takeStray(message, from: peer) }
        guard legs[index].peer == peer else { return }
        if legs[index].isCaller {
            takeOfCalled(message.content, index, at: now)
        } else {
            takeOfCaller(message.content, index, at: now)
        }
    }

    // MARK: Invitations

    private mutating func takeInvite(_ id: CallID, from peer: PeerID, at now: MonotonicTime) {
        if let index = leg(id) {
            guard legs[index].peer == peer, !legs[index].isCaller else { return }
            return repeatAnswer(index, at: now)
        }
        guard !joined.contains(where: { $0.from == id }) else { return }
        if let index = legs.firstIndex(where: { $0.peer == peer && $0.isRunning }) {
            // While the two are in a call, an invitation is late, or overtook the end of that call.
            guard legs[index].isCaller, legs[index].phase == .calling else { return }
            return cross(id, legs[index].id, with: peer, at: now)
        }
        var leg = CallLeg(
            id, with: peer, isCaller: false, phase: .arriving, until: now + policy.ringing + policy.patience)
        let running = legs.filter(\.isRunning)
        let room =
            switch policy.secondCall {
            case .busy: 0
            case .waiting(let most): most
            }
        let waiting = running.filter { !$0.isCaller && ($0.phase == .arriving || $0.phase == .ringing) }.count
        // The first ringing call is not a second call.
        let isFirst = running.isEmpty
        let others = running.count > waiting ? waiting : max(0, waiting - 1)
        guard isFirst || others < room else {
            var wait: Duration?
            if case .busy(let given) = policy.secondCall { wait = given }
            guard legs.count < Self.mostRemembered else {
                // In a flood nothing is stored; each repetition is answered again.
                return actions.append(.send(CallMessage(id, .busy(retryAfter: wait)), to: peer))
            }
            leg.deadline = .distantFuture
            legs.append(leg)
            return finish(legs.count - 1, CallEnd(by: me, .busy(retryAfter: wait)), at: now)
        }
        legs.append(leg)
        actions.append(.ask(id, peer))
    }

    /// Two calls between the same peers have crossed.
    private mutating func cross(_ theirs: CallID, _ mine: CallID, with peer: PeerID, at now: MonotonicTime) {
        guard theirs < mine else { return joined.append((theirs, mine)) }
        legs.removeAll { $0.id == mine }
        let end = now + policy.connecting + policy.patience
        legs.append(CallLeg(theirs, with: peer, isCaller: false, phase: .connecting, until: end))
        join(mine, into: theirs)
        send(.accept, legs.count - 1, at: now, repeating: true)
        tell(legs.count - 1)
        actions.append(.openMedia(theirs, peer))
    }

    mutating func join(_ id: CallID, into other: CallID) {
        joined.append((id, other))
        actions.append(.tellJoined(id, into: other))
    }

    /// Answers a repeated invitation.
    private mutating func repeatAnswer(_ index: Int, at now: MonotonicTime) {
        switch legs[index].phase {
        case .ringing: send(.ringing, index, at: now, repeating: false)
        case .connecting, .connected: send(.accept, index, at: now, repeating: false)
        case .ending(let end): send(proposal(end), index, at: now, repeating: false)
        case .ended(let end): send(.ended(end), index, at: now, repeating: false)
        case .calling, .arriving: break
        }
    }

    // MARK: Messages of a call

    /// Takes a message of the peer that this side has called.
    private mutating func takeOfCalled(_ content: CallMessage.Content, _ index: Int, at now: MonotonicTime) {
        let peer = legs[index].peer
        if case .ended(let own) = legs[index].phase {
            // The same message confirms the end; another gets the decision.
            if case .ended(own) = content { return confirm(index) }
            return send(.ended(own), index, at: now, repeating: false)
        }
        switch content {
        case .ringing:
            guard legs[index].phase == .calling else { return }
            legs[index].phase = .ringing
            legs[index].deadline = .distantFuture
            legs[index].stopRepeating()
            tell(index)
        case .accept:
            // The sender repeats it until it receives the same.
            send(.accept, index, at: now, repeating: false)
            guard !legs[index].hasMedia else { return }
            legs[index].phase = .connecting
            legs[index].stopRepeating()
            (legs[index].deadline, legs[index].ringingEnd) = (now + policy.connecting, .distantFuture)
            tell(index)
            actions.append(.openMedia(legs[index].id, peer))
        case .decline(let text): finish(index, CallEnd(by: peer, .declined(text)), at: now)
        case .busy(let wait): finish(index, CallEnd(by: peer, .busy(retryAfter: wait)), at: now)
        case .hangUp, .cancel: finish(index, CallEnd(by: peer, .hungUp), at: now)
        case .ended(let end): finish(index, heard(end, from: peer), at: now)
        case .invite, .tracks: break
        }
    }

    /// Handles a message of the peer that has called, which decides.
    private mutating func takeOfCaller(_ content: CallMessage.Content, _ index: Int, at now: MonotonicTime) {
        let peer = legs[index].peer
        let end: CallEnd
        switch content {
        case .accept:
            if legs[index].hasMedia { legs[index].stopRepeating() }
            return
        case .cancel: end = CallEnd(by: peer, .cancelled)
        case .hangUp: end = CallEnd(by: peer, .hungUp)
        case .ended(let said): end = heard(said, from: peer)
        case .decline, .busy, .ringing, .invite, .tracks: return
        }
        if legs[index].end == nil {
            closeMedia(index)
            settle(index, end)
        }
        // The sender repeats its message until it receives the same.
        actions.append(.send(CallMessage(legs[index].id, .ended(end)), to: peer))
    }

    /// Handles a message of a call that this side does not know.
    private mutating func takeStray(_ message: CallMessage, from peer: PeerID) {
        let end: CallEnd
        switch message.content {
        // A peer that does not know the call has restarted, or changed to the call that crossed it.
        case .ringing, .accept: end = CallEnd(by: me, .failed("The peer does not know the call."))
        case .decline(let text): end = CallEnd(by: peer, .declined(text))
        case .busy(let wait): end = CallEnd(by: peer, .busy(retryAfter: wait))
        case .cancel: end = CallEnd(by: peer, .cancelled)
        case .hangUp: end = CallEnd(by: peer, .hungUp)
        // Not answered, because two sides without a record of the call would exchange messages for ever.
        case .invite, .ended, .tracks: return
        }
        actions.append(.send(CallMessage(message.call, .ended(end)), to: peer))
    }

    /// Returns a received end, by one of the two.
    private func heard(_ end: CallEnd, from peer: PeerID) -> CallEnd {
        end.by == me || end.by == peer ? end : CallEnd(by: peer, end.reason)
    }

    // MARK: Ends

    /// Ends a call for this side: with the decision if it has called, otherwise with a proposal.
    mutating func finish(_ index: Int, _ end: CallEnd, at now: MonotonicTime) {
        let end = end.bounded
        closeMedia(index)
        let isShown = legs[index].phase != .arriving
        legs[index].phase = legs[index].isCaller ? .ended(end) : .ending(end)
        (legs[index].ringingEnd, legs[index].absenceEnd) = (.distantFuture, .distantFuture)
        legs[index].deadline = now + policy.ending
        if isShown { tell(index) }
        send(proposal(end), index, at: now, repeating: true)
    }

    /// Records how a call has ended.
    mutating func settle(_ index: Int, _ end: CallEnd) {
        legs[index].phase = .ended(end)
        legs[index].stopRepeating()
        (legs[index].deadline, legs[index].ringingEnd, legs[index].absenceEnd) = (
            .distantFuture, .distantFuture, .distantFuture
        )
        tell(index)
    }

    private mutating func confirm(_ index: Int) {
        legs[index].stopRepeating()
        legs[index].deadline = .distantFuture
    }

    /// Returns the message that reports an end to the peer.
    private func proposal(_ end: CallEnd) -> CallMessage.Content {
        guard end.by == me else { return .ended(end) }
        return switch end.reason {
        case .declined(let text): .decline(reason: text)
        case .busy(let wait): .busy(retryAfter: wait)
        case .cancelled: .cancel
        case .hungUp: .hangUp
        case .missed, .failed, .timedOut: .ended(end)
        }
    }

    mutating func closeMedia(_ index: Int) {
        if legs[index].hasMedia { actions.append(.closeMedia(legs[index].id)) }
    }

    mutating func send(_ content: CallMessage.Content, _ index: Int, at now: MonotonicTime, repeating: Bool) {
        if repeating { legs[index].beginRepeating(content, at: now) }
        actions.append(.send(CallMessage(legs[index].id, content), to: legs[index].peer))
    }

    mutating func tell(_ index: Int) { actions.append(.tell(legs[index].id, legs[index].state)) }
}

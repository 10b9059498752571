import InletCore

// The reaction of a session to a change of this machine's network.
extension PeerSessionStateMachine {
    /// Handles a change of the network.
    ///
    /// A path that may have broken is doubted: unless the peer sends something soon, this side restarts, or waits for
    /// the offer of a peer that has the offering role. A session being set up has candidates of the old network, and a
    /// waiting attempt may succeed now, so both restart at once.
    mutating func networkChanged(mayBreakPaths: Bool, _ now: MonotonicTime, _ actions: inout [Action]) {
        switch phase {
        case .connected(let since, let silentBy):
            guard mayBreakPaths else { break }
            isDoubted = true
            phase = .connected(since: since, silentBy: min(silentBy, now + policy.confirming))
        case .broken: beginElsewhere(now, &actions)
        case .waiting, .offering, .gathering(.offer, _, _), .awaitingAnswer, .applying(.answer, _), .connecting:
            guard policy.role == .offering else { break }
            attempt = 0
            begin(now, &actions)
        case .new, .awaitingOffer, .gathering, .applying, .ended: break
        }
    }

    /// Gives up a path of the former network: the peer has sent nothing since.
    mutating func beginElsewhere(_ now: MonotonicTime, _ actions: inout [Action]) {
        isDoubted = false
        actions.append(.tellSetback(.failed(.networkChanged)))
        switch policy.role {
        case .offering:
            attempt = 0
            begin(now, &actions)
        case .answering: phase = .broken(by: now + policy.reconnecting)
        }
    }
}

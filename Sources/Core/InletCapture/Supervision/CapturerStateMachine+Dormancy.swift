import InletCore

/// A source that is open only while a sink has use for it.
extension CapturerStateMachine {
    /// Opens a source that was closed for a pause, or because it had no viewers.
    mutating func reopen(_ now: MonotonicTime, _ actions: inout [Action]) {
        switch phase {
        case .closedForPause: openUnlessRefused(now, &actions)
        case .closing(let session, .rest, let by): phase = .closing(session, next: .reopen, by: by)
        case .idle, .open, .waiting, .closing, .ended: break
        }
    }

    mutating func watched(_ isWatched: Bool, _ now: MonotonicTime, _ actions: inout [Action]) {
        guard isWatched else { return unwatchedSince = unwatchedSince ?? now }
        unwatchedSince = nil
        guard isDormant else { return }
        isDormant = false
        guard !wantsPause else { return }
        outage = Outage(start: now, isTrouble: false)
        reopen(now, &actions)
    }

    /// Closes the source, or stops trying to open it, until it has a viewer.
    mutating func becomeDormant(_ now: MonotonicTime, _ actions: inout [Action]) {
        isDormant = true
        settleHealth(until: now)
        endOutage(at: now)
        if case .waiting = phase { phase = .closedForPause } else { close(then: .rest, now, &actions) }
    }

    /// The time at which the source is closed unless it has a viewer by then. Never before its first frame, with which
    /// sinks start, and only for a live source: any other would start from its beginning.
    var dormancyTime: MonotonicTime? {
        guard let wait = policy.closesUnwatchedAfter, let unwatchedSince, !isDormant, !wantsPause else { return nil }
        switch phase {
        case .waiting: return unwatchedSince + wait
        case .open(let session):
            switch session.stage {
            case .live, .stalled: return session.format?.pacing == .live ? unwatchedSince + wait : nil
            case .opening, .awaitingFrame, .pausing, .paused: return nil
            }
        case .idle, .closedForPause, .closing, .ended: return nil
        }
    }
}

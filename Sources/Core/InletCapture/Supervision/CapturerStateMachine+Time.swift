import InletCore

/// The effects of passing time: deadlines, stalls, the end of a delay, giving up.
extension CapturerStateMachine {
    /// The grace period after its deadline in which the source may report an error itself.
    static let grace = Duration.milliseconds(200)

    mutating func tick(_ now: MonotonicTime, _ operation: SourceOperation?, _ actions: inout [Action]) {
        let id = session?.id
        if let dormancyTime, now >= dormancyTime { becomeDormant(now, &actions) }
        switch phase {
        case .closing(let session, let next, let by) where now >= by: abandon(session, next: next, now, &actions)
        case .waiting(let until, _) where now >= until: openSession(&actions)
        case .open(let session): if case .live = session.stage { stallIfSilent(session, now, operation, &actions) }
        default: break
        }
        // The operation does not belong to a session which has just been opened.
        if id == session?.id, let overdue = overdueOperation(now, operation) {
            let error = InletError(
                .timedOut, overdue.message, context: .init(subject: policy.subject, operation: overdue.name))
            close(then: wantsPause ? .rest : .fail(error), now, &actions)
        }
        giveUpIfDue(now, &actions)
    }

    private mutating func stallIfSilent(
        _ session: Session, _ now: MonotonicTime, _ operation: SourceOperation?, _ actions: inout [Action]
    ) {
        guard let operation, session.interruption == nil, now >= operation.quietSince + allowance.stall else { return }
        settleHealth(until: operation.quietSince)
        var session = session
        session.stage = .stalled
        phase = .open(session)
        figures.stalls += 1
        beginOutage(at: operation.quietSince)
        actions.append(.noticeNextFrame(session.id))
        // Reported immediately, because the same tick may find it overdue.
        tellState(&actions)
    }

    private func overdueOperation(
        _ now: MonotonicTime, _ operation: SourceOperation?
    ) -> (name: String, message: String)? {
        guard let operation, case .open(let session) = phase, session.interruption == nil,
            now >= operation.deadline + Self.grace
        else { return nil }
        switch session.stage {
        case .opening:
            return ("open", "The source was not open after \(policy.timeouts.open).")
        case .awaitingFrame:
            return ("next", "The source sent no frame within \(policy.timeouts.firstFrame) of its opening.")
        case .stalled, .live:
            let isQuiet = now >= operation.quietSince + allowance.restart
            return (
                "next",
                isQuiet
                    ? "The source sent no frame for \(allowance.restart)."
                    : "The source sends data, but no frame came of it for \(allowance.frame) or longer."
            )
        case .pausing: return ("pause", "The source did not pause within \(allowance.restart).")
        case .paused: return nil
        }
    }

    private mutating func giveUpIfDue(_ now: MonotonicTime, _ actions: inout [Action]) {
        guard let giveUpTime, now >= giveUpTime, let giveUp = policy.timeouts.giveUp else { return }
        let cause = figures.lastFailure
        let error = InletError(
            .timedOut,
            "No frame came for \(giveUp), so the source is given up." + (cause.map { " Last: \($0.message)" } ?? ""),
            cause: cause, context: .init(subject: policy.subject, operation: "giveUp"))
        if session == nil {
            finish(.failure(error), now, &actions)
        } else {
            close(then: .finish(.failure(error)), now, &actions)
        }
    }

    private var giveUpTime: MonotonicTime? {
        guard let giveUp = policy.timeouts.giveUp, let outage else { return nil }
        switch phase {
        case .idle, .ended, .closing(_, .finish, _): return nil
        default: return rests ? nil : outage.start + giveUp
        }
    }

    private var allowance: (stall: Duration, restart: Duration, frame: Duration) {
        Self.frameAllowance(policy.timeouts, frameInterval: session?.format?.frameInterval ?? .zero)
    }

    /// Returns when to be ticked next, at the latest.
    ///
    /// - Parameter operation: as for ``Input/tick(_:)``, read now.
    func nextTick(at now: MonotonicTime, operation: SourceOperation?) -> MonotonicTime? {
        let phaseTime: MonotonicTime?
        switch phase {
        case .idle, .closedForPause, .ended: return nil
        case .closing(_, _, let by): phaseTime = by
        case .waiting(let until, _): phaseTime = until
        case .open(let session): phaseTime = nextTick(of: session, at: now, operation)
        }
        return [phaseTime, giveUpTime, dormancyTime].compactMap { $0 }.min()
    }

    private func nextTick(
        of session: Session, at now: MonotonicTime, _ operation: SourceOperation?
    ) -> MonotonicTime? {
        // An interrupted source may take as long as the interruption lasts, whose end is an input.
        let overdue = session.interruption == nil ? operation.map { $0.deadline + Self.grace } : nil
        return switch session.stage {
        // An operation that begins after this check has its whole time left.
        case .opening: overdue ?? (now + policy.timeouts.open)
        case .awaitingFrame, .stalled, .pausing: overdue ?? (now + allowance.restart)
        case .live where session.interruption != nil: now + allowance.restart
        case .live: min((operation?.quietSince ?? now) + allowance.stall, overdue ?? .distantFuture)
        case .paused: nil
        }
    }
}

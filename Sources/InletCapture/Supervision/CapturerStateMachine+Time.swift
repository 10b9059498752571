import InletCore

/// What follows from time passing: deadlines, stalls, the end of a delay, giving up.
extension CapturerStateMachine {
    /// The source gets this long after its deadline to say by itself what kept it.
    static let grace = Duration.milliseconds(200)

    mutating func tick(_ now: MonotonicTime, _ operation: SourceOperation?, _ actions: inout [Action]) {
        let session = currentSession
        switch phase {
        case .closing(let id, let next, let by) where now >= by: abandon(id, next: next, now, &actions)
        case .waiting(let until, _) where now >= until: openSession(&actions)
        case .live(let id) where interruption == nil: stallIfSilent(id, now, operation, &actions)
        default: break
        }
        // The operation is not that of a session which has just been opened.
        if session == currentSession, let overdue = overdueOperation(now, operation) {
            let error = InletError(
                .timedOut, overdue.message, context: .init(subject: policy.subject, operation: overdue.name))
            close(then: wantsPause ? .rest : .fail(error), now, &actions)
        }
        giveUpIfDue(now, &actions)
    }

    private mutating func stallIfSilent(
        _ id: SessionID, _ now: MonotonicTime, _ operation: SourceOperation?, _ actions: inout [Action]
    ) {
        guard let operation, now >= operation.quietSince + allowance.stall else { return }
        phase = .stalled(id)
        figures.stalls += 1
        settleHealth(until: operation.quietSince)
        beginOutage(at: operation.quietSince)
        actions.append(.noticeNextFrame(id))
        // Told at once, as the same tick may find it overdue.
        tellState(&actions)
    }

    private func overdueOperation(
        _ now: MonotonicTime, _ operation: SourceOperation?
    ) -> (name: String, message: String)? {
        guard let operation, now >= operation.deadline + Self.grace, interruption == nil else { return nil }
        switch phase {
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
        default: return nil
        }
    }

    private mutating func giveUpIfDue(_ now: MonotonicTime, _ actions: inout [Action]) {
        guard let giveUpTime, now >= giveUpTime, let giveUp = policy.timeouts.giveUp else { return }
        let cause = figures.lastFailure
        let error = InletError(
            .timedOut,
            "No frame came for \(giveUp), so the source is given up." + (cause.map { " Last: \($0.message)" } ?? ""),
            cause: cause, context: .init(subject: policy.subject, operation: "giveUp"))
        if currentSession == nil {
            finish(.failure(error), now, &actions)
        } else {
            close(then: .finish(.failure(error)), now, &actions)
        }
    }

    private var giveUpTime: MonotonicTime? {
        guard let giveUp = policy.timeouts.giveUp, let outageStart else { return nil }
        switch phase {
        case .idle, .ended, .closing(_, .finish, _): return nil
        default: return rests ? nil : outageStart + giveUp
        }
    }

    private var allowance: (stall: Duration, restart: Duration, frame: Duration) {
        Self.frameAllowance(policy.timeouts, frameInterval: format?.frameInterval ?? .zero)
    }

    /// When to be ticked next, at the latest.
    ///
    /// - Parameter operation: as for ``Input/tick(_:)``, read now.
    func nextTick(at now: MonotonicTime, operation: SourceOperation?) -> MonotonicTime? {
        // An interrupted source may take as long as the interruption lasts, whose end is an input.
        let overdue = interruption == nil ? operation.map { $0.deadline + Self.grace } : nil
        let phaseTime: MonotonicTime?
        switch phase {
        case .idle, .paused, .ended: return nil
        case .closing(_, _, let by): phaseTime = by
        case .waiting(let until, _): phaseTime = until
        // An operation that begins after this look has all its time before it.
        case .opening: phaseTime = overdue ?? (now + policy.timeouts.open)
        case .awaitingFrame, .stalled, .pausing: phaseTime = overdue ?? (now + allowance.restart)
        case .live where interruption != nil: phaseTime = now + allowance.restart
        case .live:
            let stallTime = operation.map { $0.quietSince + allowance.stall } ?? (now + allowance.stall)
            phaseTime = min(stallTime, overdue ?? .distantFuture)
        }
        return [phaseTime, giveUpTime].compactMap { $0 }.min()
    }
}

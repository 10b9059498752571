import InletCore

/// What follows from time passing: deadlines, stalls, the end of a delay, giving up.
extension CapturerStateMachine {
    /// The source gets this long after its deadline to say by itself what kept it.
    static let grace = Duration.milliseconds(200)

    mutating func tick(_ now: MonotonicTime, deadline: MonotonicTime?, _ actions: inout [Action]) {
        let session = currentSession
        switch phase {
        case .closing(let id, let next, let by) where now >= by: abandon(id, next: next, now, &actions)
        case .waiting(let until, _) where now >= until: openSession(&actions)
        case .live(let id) where interruption == nil: stallIfSilent(id, now, deadline: deadline, &actions)
        default: break
        }
        // The deadline is not that of a session which has just been opened.
        if session == currentSession, let operation = overdueOperation(now, deadline: deadline) {
            let error = InletError(
                .timedOut, operation.message, context: .init(subject: policy.subject, operation: operation.name))
            close(then: wantsPause ? .rest : .fail(error), now, &actions)
        }
        giveUpIfDue(now, &actions)
    }

    private mutating func stallIfSilent(
        _ id: SessionID, _ now: MonotonicTime, deadline: MonotonicTime?, _ actions: inout [Action]
    ) {
        guard let stallTime = stallTime(deadline: deadline), now >= stallTime else { return }
        phase = .stalled(id)
        figures.stalls += 1
        let lastFrame = stallTime - allowance.stall
        settleHealth(until: lastFrame)
        beginOutage(at: lastFrame)
        actions.append(.noticeNextFrame(id))
        // Told at once, as the same tick may find it overdue.
        tellState(&actions)
    }

    private func overdueOperation(_ now: MonotonicTime, deadline: MonotonicTime?) -> (name: String, message: String)? {
        guard let deadline, now >= deadline + Self.grace, interruption == nil else { return nil }
        switch phase {
        case .opening:
            return ("open", "The source was not open after \(policy.timeouts.open).")
        case .awaitingFrame:
            return ("nextFrame", "The source sent no frame within \(policy.timeouts.firstFrame) of its opening.")
        case .stalled, .live:
            return ("nextFrame", "The source sent no frame for \(allowance.restart).")
        case .pausing: return ("pause", "The source did not stand still within \(allowance.restart).")
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

    private func stallTime(deadline: MonotonicTime?) -> MonotonicTime? {
        guard let deadline, deadline != .distantFuture else { return nil }
        let (stall, restart) = allowance
        return deadline - restart + stall
    }

    private var allowance: (stall: Duration, restart: Duration) {
        Self.frameAllowance(policy.timeouts, frameInterval: format?.frameInterval ?? .zero)
    }

    /// When to be ticked next, at the latest.
    ///
    /// - Parameter deadline: as for ``Input/tick(deadline:)``, read now.
    func nextTick(at now: MonotonicTime, deadline: MonotonicTime?) -> MonotonicTime? {
        let operation = deadline.map { $0 + Self.grace }
        let phaseTime: MonotonicTime?
        switch phase {
        case .idle, .paused, .ended: return nil
        case .closing(_, _, let by): phaseTime = by
        case .waiting(let until, _): phaseTime = until
        // An operation that begins after this look has all its time before it.
        case .opening: phaseTime = operation ?? (now + policy.timeouts.open)
        case .awaitingFrame, .stalled, .pausing: phaseTime = operation ?? (now + allowance.restart)
        case .live: phaseTime = stallTime(deadline: deadline) ?? (now + allowance.stall)
        }
        return [phaseTime, giveUpTime].compactMap { $0 }.min()
    }
}

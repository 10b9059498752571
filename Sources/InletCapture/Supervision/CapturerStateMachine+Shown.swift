import InletCore

/// What the application sees, and what sinks see where there are no frames.
extension CapturerStateMachine {
    /// What the application sees.
    var state: CapturerState { shown }

    /// What sinks get in place of frames.
    enum Placeholder: Hashable {
        case nothing
        /// What a disabled track shows.
        case disabled
        /// What an outage shows that began then.
        case outage(since: MonotonicTime)
    }

    /// What sinks get in place of frames now.
    var placeholder: Placeholder {
        switch phase {
        case .idle, .ended: return .nothing
        default: if rests { return .nothing }
        }
        if !isEnabled { return .disabled }
        return outageStart.map { .outage(since: $0) } ?? .nothing
    }

    /// Whether there are no frames because the application paused them.
    var rests: Bool {
        switch phase {
        case .pausing, .paused, .closing(_, .rest, _): true
        case .closing(_, .fail, _): wantsPause
        default: false
        }
    }

    mutating func tellState(_ actions: inout [Action]) {
        let state = visibleState
        guard state != shown else { return }
        shown = state
        actions.append(.tell(.stateChanged(state)))
    }

    private var visibleState: CapturerState {
        if rests { return .paused }
        switch phase {
        case .idle: return .idle
        case .ended(let reason): return .ended(reason)
        case .waiting(_, let delay): return .waiting(attempt: failures, delay: delay)
        // What it was closed for shows when it is closed.
        case .closing: return shown
        default: break
        }
        if let interruption { return .interrupted(reason: interruption) }
        switch phase {
        case .stalled: return .stalled
        case .live: return isEnabled ? .live : .disabled
        default: return .opening
        }
    }
}

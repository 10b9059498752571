import InletCore

/// The state that the application sees, and the pictures that sinks get while there are no frames.
extension CapturerStateMachine {
    /// The state that the application sees.
    var state: CapturerState { shown }

    /// The pictures that sinks get instead of frames.
    enum Placeholder: Hashable {
        case nothing
        /// The picture of a disabled track.
        case disabled
        /// The picture of an outage that began then.
        case outage(since: MonotonicTime)
    }

    /// The pictures that sinks currently get instead of frames.
    var placeholder: Placeholder {
        switch phase {
        case .idle, .ended: return .nothing
        case .closing where wantsPause: return .nothing
        default: if rests { return .nothing }
        }
        if !isEnabled { return .disabled }
        return outage.map { .outage(since: $0.start) } ?? .nothing
    }

    /// Whether frames are absent because the application paused the capturer, or because it has no viewers.
    var rests: Bool {
        switch phase {
        case .open(let session):
            switch session.stage {
            case .pausing, .paused: true
            case .opening, .awaitingFrame, .live, .stalled: false
            }
        case .closedForPause, .closing(_, .rest, _): true
        case .closing(_, .fail, _): wantsPause
        case .idle, .closing, .waiting, .ended: false
        }
    }

    mutating func tellState(_ actions: inout [Action]) {
        let state = visibleState
        guard state != shown else { return }
        shown = state
        actions.append(.tell(.stateChanged(state)))
    }

    private var restingState: CapturerState { isDormant && !wantsPause ? .unwatched : .paused }

    private var visibleState: CapturerState {
        if rests { return restingState }
        switch phase {
        case .idle: return .idle
        case .ended(let reason): return .ended(reason)
        case .waiting(_, let delay): return .waiting(attempt: failures, delay: delay)
        case .closedForPause: return restingState
        // The reason for closing is shown once the session is closed.
        case .closing: return shown
        case .open(let session):
            if let interruption = session.interruption { return .interrupted(reason: interruption) }
            return switch session.stage {
            case .stalled: .stalled
            case .live: isEnabled ? .live : .disabled
            case .opening, .awaitingFrame, .pausing, .paused: .opening
            }
        }
    }
}

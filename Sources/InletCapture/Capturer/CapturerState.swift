public import InletCore

/// What a capturer does now.
public enum CapturerState: Sendable, Hashable {
    /// Not started yet.
    case idle
    /// The source is being opened, or is open and has not yielded its first frame.
    case opening
    /// Frames come.
    case live
    /// The source is open, but nothing has come from it for ``CaptureTimeouts/stall``.
    case stalled
    /// The source failed and is closed; it is opened again after `delay`. `attempt` counts the openings since the
    /// source last was healthy, the coming one being attempt 1 after the first failure.
    case waiting(attempt: Int, delay: Duration)
    /// The source is open, but says that it lost its device for a while, and why. It ends by itself.
    case interrupted(reason: String)
    /// The application stopped the frames with ``Capturer/pause()``.
    case paused
    /// The source runs, but the application does not want its frames shown: ``Capturer/setEnabled(_:)``.
    case disabled
    /// It is over; a new capturer is needed to begin again. The reason is nil where the run failed.
    case ended(EndReason?)
}

extension CapturerState {
    /// The state without its circumstances.
    public var phase: CapturePhase {
        switch self {
        case .idle: .idle
        case .opening: .opening
        case .live: .live
        case .stalled: .stalled
        case .waiting: .waiting
        case .interrupted: .interrupted
        case .paused: .paused
        case .disabled: .disabled
        case .ended(let reason): reason == nil ? .failed : .ended
        }
    }

    /// What sinks are told of it; nil where it changes nothing of what they were told.
    var condition: SourceCondition? {
        switch self {
        case .live: .live
        case .disabled: .disabled
        case .paused: .paused
        case .stalled, .waiting, .interrupted: .interrupted
        case .idle, .opening, .ended: nil
        }
    }
}

extension CapturerState: CustomStringConvertible {
    /// The state in a few words for a person.
    public var description: String {
        switch self {
        case .idle: "idle"
        case .opening: "opening"
        case .live: "live"
        case .stalled: "stalled"
        case .waiting(let attempt, let delay): "waiting \(delay.inSeconds) s before attempt \(attempt)"
        case .interrupted(let reason): "interrupted: \(reason)"
        case .paused: "paused"
        case .disabled: "disabled"
        case .ended(let reason): reason.map { "ended: \($0.rawValue)" } ?? "failed"
        }
    }
}

extension Duration {
    /// Seconds with one decimal, for people.
    var inSeconds: String {
        let tenths = (wholeNanoseconds + 50_000_000) / 100_000_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}

public import InletCore

/// The state of a capturer.
public enum CapturerState: Sendable, Hashable {
    /// Not started yet.
    case idle
    /// The source is being opened, or is open and has not yielded its first frame.
    case opening
    /// Frames arrive.
    case live
    /// The source is open, but no data has arrived for ``CaptureTimeouts/stall``.
    case stalled
    /// The source failed and is closed; it is opened again after `delay`. `attempt` counts the openings since the
    /// source was last healthy; the next one is attempt 1 after the first failure.
    case waiting(attempt: Int, delay: Duration)
    /// The source is open, but reports that it has lost its device for a while, and why. The source ends this state.
    case interrupted(reason: String)
    /// The application stopped the frames with ``Capturer/pause()``.
    case paused
    /// The source is closed until a sink has use for it: ``CapturerConfiguration/closesUnwatchedAfter``.
    case unwatched
    /// The source runs, but the application does not want its frames shown: ``Capturer/setEnabled(_:)``.
    case disabled
    /// The run is over; to start again, make a new capturer. The reason is nil if the run failed.
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
        case .unwatched: .unwatched
        case .disabled: .disabled
        case .ended(let reason): reason == nil ? .failed : .ended
        }
    }

    /// The condition that is reported to sinks; nil if the state does not change it.
    var condition: SourceCondition? {
        switch self {
        // For a sink, an earlier outage or pause has ended: the sink's audience opens the source again.
        case .live, .unwatched: .live
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
        case .unwatched: "unwatched"
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

/// What a capture does, as one word for programs: its `rawValue` is the label of metrics and of JSON.
public enum CapturePhase: String, Sendable, Hashable, CaseIterable {
    /// Not started yet.
    case idle
    /// The source is being opened, or has not yielded its first frame.
    case opening
    /// Frames come.
    case live
    /// The source is open, and nothing comes from it.
    case stalled
    /// The source failed and is opened again after a delay.
    case waiting
    /// The source says that it lost its device for a while.
    case interrupted
    /// The application stopped the frames.
    case paused
    /// The application keeps the frames from the sinks.
    case disabled
    /// It is over.
    case ended
    /// It is over, as the source failed for good.
    case failed
}

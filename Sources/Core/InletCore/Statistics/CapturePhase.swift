/// The state of a capture as one word for programs: its `rawValue` is the label in metrics and JSON.
public enum CapturePhase: String, Sendable, Hashable, CaseIterable {
    /// Not started yet.
    case idle
    /// The source is being opened, or has not yielded its first frame.
    case opening
    /// Frames arrive.
    case live
    /// The source is open, but no data arrives from it.
    case stalled
    /// The source failed and is opened again after a delay.
    case waiting
    /// The source reports that it has lost its device for a while.
    case interrupted
    /// The application stopped the frames.
    case paused
    /// The source is closed until a sink has use for it.
    case unwatched
    /// The application keeps the frames from the sinks.
    case disabled
    /// The run is over.
    case ended
    /// The run is over, because the source failed permanently.
    case failed
}

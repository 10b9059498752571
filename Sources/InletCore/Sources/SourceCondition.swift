/// Whether frames are to be expected, as a sink may tell an audience of its own.
public enum SourceCondition: String, Sendable, Hashable, CaseIterable {
    /// Frames come.
    case live
    /// There are none for now, and they come back by themselves: the source has stalled, was interrupted, or failed and
    /// is opened again.
    case interrupted
    /// The source goes on, but the application keeps its frames from the sinks.
    case disabled
    /// The application has stopped the source until it resumes.
    case paused
}

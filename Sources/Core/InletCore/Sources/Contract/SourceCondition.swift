/// Whether frames are expected, as a sink may report to its audience.
public enum SourceCondition: String, Sendable, Hashable, CaseIterable {
    /// Frames arrive, or will arrive as soon as a sink uses them: a source may be closed while it has no viewers.
    case live
    /// Pictures are missing and expected to return: the source has stalled, was interrupted, or failed and is opened
    /// again.
    case interrupted
    /// The source is running, but the application keeps its frames from the sinks.
    case disabled
    /// The application has stopped the source until it resumes.
    case paused
}

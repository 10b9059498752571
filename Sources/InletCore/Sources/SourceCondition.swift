/// Whether frames are to be expected, as a sink may tell an audience of its own.
public enum SourceCondition: String, Sendable, Hashable, CaseIterable {
    /// Frames come.
    case live
    /// There are none for now, and they come back by themselves: the source has stalled, was interrupted, or failed and is opened again.
    case interrupted
    /// The source goes on, but the application keeps its frames from the sinks.
    case disabled
    /// The application has stopped the source until it resumes.
    case paused
}

/// A sink that shows others whether there is anything to see: a page, a call, a display.
///
/// The end needs no word of its own: it is ``FrameSink/finish()``.
public protocol ConditionSink: FrameSink {
    /// Called on the sink's thread, between frames, from ``FrameSink/start(_:)`` on: at once where frames are not ``SourceCondition/live`` then, and at each change. Changes
    /// that follow each other faster than the sink takes them up are told as one. Placeholders may come in any condition.
    func sourceChanged(to condition: SourceCondition)
}

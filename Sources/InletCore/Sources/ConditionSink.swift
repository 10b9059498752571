/// A sink that shows others whether there is anything to see: a page, a call, a display.
///
/// The end needs no word of its own: it is ``FrameSink/finish()``.
public protocol ConditionSink: FrameSink {
    /// Called on the sink's thread, between frames, from ``FrameSink/start(_:)`` on: at once where frames are not
    /// ``SourceCondition/live`` then, and at each change. Changes that follow each other faster than the sink takes
    /// them up are told as one. Placeholders may come in any condition.
    func sourceChanged(to condition: SourceCondition)
}

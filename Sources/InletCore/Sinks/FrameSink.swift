/// Where pictures go: a file, an encoder, a process, a detector.
///
/// Every method but ``makePassThrough()``, and the first look at ``wants``, is called on a thread of the sink's own,
/// one at a time, so an implementation keeps plain mutable state. It may block: only this sink's frames wait or drop,
/// by its queue policy; the source and the other sinks do not notice.
public protocol FrameSink: AnyObject {
    /// What the sink would like to get. Read when it is attached, and again after each frame that it took: one that
    /// wants something else from then on gets it with the next frame that is not converted yet. Read no more where the
    /// application said what it gets. The default is frames as they come.
    var wants: SinkWants { get }

    /// Called once, before the first frame.
    ///
    /// - Parameters:
    ///   - format: the format of the first frame. A source may change its size, colour or rotation in mid-stream;
    ///     compare each frame's own where that matters.
    ///   - context: tells of the capture that the frames come from. May be kept.
    /// - Throws: what makes it pointless to go on: the sink is then detached and ``finish()`` is not called.
    func start(_ format: VideoFormat, _ context: SinkContext) throws

    /// Takes one frame. Keep it if needed; its pixels never change.
    ///
    /// - Throws: what makes it pointless to go on. The sink is then finished and detached, or replaced by a new one
    ///   where the application chose that. ``SinkStopped`` is not an error: the sink has had enough, as when the reader
    ///   of a pipe went away.
    func consume(_ frame: VideoFrame) throws

    /// Tells a sink that has an audience of its own whether frames are to be expected: a page, a call, a display. The
    /// default does nothing.
    ///
    /// Called between frames, from the start on: at once where frames are not ``SourceCondition/live`` then, and at
    /// each change. Changes that follow each other faster than the sink takes them up are told as one. Placeholders may
    /// come in any condition. The end needs no word of its own: it is ``finish()``.
    func sourceChanged(to condition: SourceCondition)

    /// How the sink takes the source's packets beside the pictures. Called once, before ``start(_:_:)``, on the thread
    /// that attaches the sink, or on the sink's own where it takes the place of one that failed. The default is nil: it
    /// takes pictures alone.
    func makePassThrough() -> PassThrough?

    /// Writes what is left and lets go of everything. Called exactly once after a `start` that did not throw.
    func finish() throws
}

extension FrameSink {
    /// Frames as they come.
    public var wants: SinkWants { SinkWants() }
    /// Does nothing.
    public func start(_ format: VideoFormat, _ context: SinkContext) throws {}
    /// Does nothing.
    public func sourceChanged(to condition: SourceCondition) {}
    /// Pictures alone.
    public func makePassThrough() -> PassThrough? { nil }
    /// Does nothing.
    public func finish() throws {}
}

/// A destination of pictures: a file, an encoder, a process, a detector.
///
/// Every method except ``makePassThrough()``, and except the first read of ``wants`` and ``takesFrames``, is called on
/// the sink's own thread (see ``consumesAtOnce``), one at a time, so an implementation keeps plain mutable state. It
/// may block: only this sink's frames wait or are dropped, by its queue policy; the source and the other sinks are not
/// affected.
public protocol FrameSink: AnyObject {
    /// The properties that the sink wants its frames to have. Read when the sink is attached, and again after each
    /// frame that it took or did not need. A change takes effect with the next frame that is not converted yet. Not
    /// read again if the application specified the wants. The default leaves frames as they arrive.
    var wants: SinkWants { get }

    /// Whether the sink currently uses pictures: false while it has no peer to send them to.
    ///
    /// Read when it is attached, and then before each frame. While it is false, frames are not converted for the sink;
    /// they are dropped and counted as ``DropReason/notConnected``. The sink is started with the first frame in any
    /// case. The default is true.
    ///
    /// If it is false for two seconds, for every sink that takes pictures, the pictures of a live source that has
    /// packets are no longer decoded. It is then read ten times a second, or, if the sink reports its sessions
    /// (``SinkContext/report(_:)``), once a second and with each report; decoding continues with the next packet if the
    /// packets since the last key frame could be kept, otherwise at the next key frame. A sink with a lossless queue is
    /// not concerned.
    var takesFrames: Bool { get }

    /// Whether the sink's methods return at once: they wait for no lock, device, file, peer or other thread, and do
    /// little. Read when the sink is attached. The default is false.
    ///
    /// If it is true, frames are consumed on the thread that delivers them, which for most sources is the thread that
    /// decodes. That saves the change of threads, about 0.05 ms of processor time a frame. The first frame, frames that
    /// arrive faster than they are consumed, and frames whose pixels must be converted, filtered, scaled or rotated
    /// still go to the sink's own thread.
    var consumesAtOnce: Bool { get }

    /// Starts the sink. Called once, before the first frame.
    ///
    /// - Parameters:
    ///   - format: the format of the first frame. A source may change its size, colour or rotation in mid-stream; check
    ///     each frame's own where that matters.
    ///   - context: gives access to the capture that the frames come from. May be kept.
    /// - Throws: an error if continuing is pointless: the sink is then detached and ``finish()`` is not called.
    func start(_ format: VideoFormat, _ context: SinkContext) throws

    /// Takes one frame. Keep it if needed; its pixels never change.
    ///
    /// - Throws: an error if continuing is pointless. The sink is then finished and detached, or replaced by a new one
    ///   if the application chose that. ``SinkStopped`` is not a failure: the sink has had enough, as when the reader
    ///   of a pipe has closed.
    func consume(_ frame: VideoFrame) throws

    /// Notifies a sink that has its own audience, such as a page, a call or a display, whether frames are expected. The
    /// default does nothing.
    ///
    /// Called between frames, after the start: at once if frames are not ``SourceCondition/live`` then, and at each
    /// change. Changes that follow each other faster than the sink handles them are reported as one. Placeholders may
    /// arrive in any condition. The end is not reported here: it is ``finish()``.
    func sourceChanged(to condition: SourceCondition)

    /// Returns how the sink takes the source's packets in addition to the pictures. Called once, before
    /// ``start(_:_:)``, on the thread that attaches the sink, or on the sink's own if it replaces one that failed. The
    /// default is nil: it takes only pictures.
    func makePassThrough() -> PassThrough?

    /// Writes the remaining data and releases all resources. Called exactly once after a `start` that did not throw.
    func finish() throws
}

extension FrameSink {
    /// Leaves frames as they arrive.
    public var wants: SinkWants { SinkWants() }
    /// Always true.
    public var takesFrames: Bool { true }
    /// Always false.
    public var consumesAtOnce: Bool { false }
    /// Does nothing.
    public func start(_ format: VideoFormat, _ context: SinkContext) throws {}
    /// Does nothing.
    public func sourceChanged(to condition: SourceCondition) {}
    /// Returns nil: the sink takes only pictures.
    public func makePassThrough() -> PassThrough? { nil }
    /// Does nothing.
    public func finish() throws {}
}

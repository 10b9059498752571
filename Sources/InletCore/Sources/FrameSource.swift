/// Where pictures come from: a camera, a file, a network stream, a generator.
///
/// The bridge owns the thread, the clock, the queues, the retries and the conversion; a source only opens, yields its
/// next picture or packet until there is none, and closes. All three are called on one thread at a time, in that order,
/// so an implementation keeps plain mutable state and need not be `Sendable`; a live source of packets is read on
/// another thread than it is opened and closed on. A source is opened once; a reconnect makes a new one from its
/// configuration.
///
/// Blocking calls return within 100 ms of a cancellation: sleep through ``SourceContext/sleep(until:)``, add
/// ``SourceContext/wakeUpDescriptor`` to what is polled, or look at ``SourceContext/isCancelled`` from a library's
/// interrupt callback.
public protocol FrameSource: AnyObject {
    /// Opens the device, file or connection. Called once.
    ///
    /// - Throws: any error; an ``InletError`` tells the bridge, by its code, whether to try again. ``close()`` is
    ///   called after a throw, too.
    func open(_ context: SourceContext) throws -> SourceFormat

    /// Blocks until the next picture or packet.
    ///
    /// - Returns: what came, or nil at the end of the stream; it is not called again after that.
    /// - Throws: what makes it pointless to go on. A frame that is damaged or lost is not an error: skip it, and either
    ///   leave a gap in ``SourceFrame/sequence``, which the bridge counts as ``DropReason/lostBySource``, or count it
    ///   through ``SourceContext/countDrop(_:_:)`` under a reason that says more. Never both.
    func next(_ context: SourceContext) throws -> SourceItem?

    /// Stands still without closing, for as long as the application pauses the capture: a camera stops streaming, a
    /// file is not read on.
    ///
    /// Called between two calls of ``next(_:)``. The default does nothing and returns false.
    ///
    /// - Returns: false where the source cannot: it is then closed, and a new one is opened when the pause ends.
    /// - Throws: what makes it pointless to go on, as ``next(_:)`` does.
    func pause(_ context: SourceContext) throws -> Bool

    /// Goes on after a ``pause(_:)`` that returned true. The default does nothing.
    ///
    /// - Throws: what makes it pointless to go on.
    func resume(_ context: SourceContext) throws

    /// Lets go of the device, the socket and the memory that no frame uses any more. Called exactly once, also after an
    /// error.
    func close()
}

extension FrameSource {
    /// Cannot pause.
    public func pause(_ context: SourceContext) throws -> Bool { false }
    /// Does nothing.
    public func resume(_ context: SourceContext) throws {}
}

/// A source of pictures: a camera, a file, a network stream, a generator.
///
/// The bridge owns the thread, the clock, the queues, the retries and the conversion; a source only opens, yields its
/// next picture or packet until its end, and closes. All three are called on one thread at a time, in that order, so an
/// implementation keeps plain mutable state and need not be `Sendable`. A live source of packets is read on a different
/// thread from the one that opens and closes it. A source is opened once; a reconnect makes a new one from its
/// configuration.
///
/// Blocking calls return within 100 ms of a cancellation: sleep through ``SourceContext/sleep(until:)``, add
/// ``SourceContext/wakeUpDescriptor`` to the polled descriptors, or check ``SourceContext/isCancelled`` in a library's
/// interrupt callback.
public protocol FrameSource: AnyObject {
    /// Opens the device, file or connection. Called once.
    ///
    /// - Throws: any error; the code of an ``InletError`` determines whether the bridge retries. ``close()`` is called
    ///   after a throw, too.
    func open(_ context: SourceContext) throws -> SourceFormat

    /// Waits for the next picture or packet and returns it.
    ///
    /// - Returns: the item, or nil at the end of the stream; it is not called again after that.
    /// - Throws: an error if continuing is pointless. A frame that is damaged or lost is not an error: skip it, and
    ///   either leave a gap in ``SourceFrame/sequence``, which the bridge counts as ``DropReason/lostBySource``, or
    ///   count it through ``SourceContext/countDrop(_:_:)`` under a more specific reason. Never do both.
    func next(_ context: SourceContext) throws -> SourceItem?

    /// Pauses without closing, for as long as the application pauses the capture: a camera stops streaming, a file is
    /// not read further.
    ///
    /// Called between two calls of ``next(_:)``. The default does nothing and returns false.
    ///
    /// - Returns: false if the source cannot pause: it is then closed, and a new one is opened when the pause ends.
    /// - Throws: an error if continuing is pointless, as for ``next(_:)``.
    func pause(_ context: SourceContext) throws -> Bool

    /// Continues after a ``pause(_:)`` that returned true. The default does nothing.
    ///
    /// - Throws: an error if continuing is pointless.
    func resume(_ context: SourceContext) throws

    /// Releases the device, the socket and all memory that no frame uses any more. Called exactly once, also after an
    /// error.
    func close()
}

extension FrameSource {
    /// Returns false: the source cannot pause.
    public func pause(_ context: SourceContext) throws -> Bool { false }
    /// Does nothing.
    public func resume(_ context: SourceContext) throws {}
}

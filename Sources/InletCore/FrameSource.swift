/// Where pictures come from: a camera, a file, a network stream, a generator.
///
/// The bridge owns the thread, the clock, the queues, the retries and the conversion; a source only opens, yields its next frame
/// until there is none, and closes. All three are called on one capture thread, in that order, so an implementation keeps plain
/// mutable state and need not be `Sendable`. A source is opened once; a reconnect makes a new one from its configuration.
///
/// Blocking calls return within 100 ms of a cancellation: sleep through ``SourceContext/sleep(until:)``, add
/// ``SourceContext/wakeUpDescriptor`` to what is polled, or look at ``SourceContext/isCancelled`` from a library's interrupt callback.
public protocol FrameSource: AnyObject {
    /// Opens the device, file or connection. Called once.
    ///
    /// - Throws: any error; an ``InletError`` tells the bridge, by its code, whether to try again. ``close()`` is called after a
    ///   throw, too.
    func open(_ context: SourceContext) throws -> SourceFormat

    /// Blocks until the next frame.
    ///
    /// - Returns: the frame, or nil at the end of the stream; it is not called again after that.
    /// - Throws: what makes it pointless to go on. A frame that is damaged or lost is not an error: skip it and count it through
    ///   ``SourceContext/countDrop(_:_:)``.
    func nextFrame(_ context: SourceContext) throws -> SourceFrame?

    /// Lets go of the device, the socket and the memory that no frame uses any more. Called exactly once, also after an error.
    func close()
}

/// How to make a source: a value with a property for each option, checked before anything is opened.
public protocol FrameSourceConfiguration: Sendable {
    /// The source by its URI, without credentials: what logs and errors call it.
    var redactedURI: String { get }

    /// Makes a source. Does no input or output and cannot fail: what can be checked beforehand was checked when the
    /// configuration was made.
    func makeSource() -> any FrameSource
}

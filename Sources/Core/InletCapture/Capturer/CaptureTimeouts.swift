/// The times that a capturer waits for its source. Every wait has an end.
///
/// A source that sleeps on purpose, through ``SourceContext/sleep(until:)``, does not use up its time; and a source
/// that states a rate always has three frames' time, however low that rate. If a source reports data through
/// ``SourceContext/reportProgress()``, data is what counts: a camera of which few frames are wanted is not silent
/// between them.
public struct CaptureTimeouts: Sendable, Hashable {
    /// The longest time for opening; after it the source is closed and opened again. The default is 10 seconds.
    public var open = Duration.seconds(10)
    /// The longest time from the opening to the first frame; after it the source is restarted. The default is 10
    /// seconds.
    public var firstFrame = Duration.seconds(10)
    /// The longest time without any data; after it the source is restarted. A source whose data yields no frame gets
    /// three times as long, and never less than the time of three frames at the rate that sinks want. The default is 10
    /// seconds.
    public var nextFrame = Duration.seconds(10)
    /// The time without any data after which the state becomes ``CapturerState/stalled`` and the ``OutagePolicy``
    /// applies. The default is 1 second.
    public var stall = Duration.seconds(1)
    /// The time without a frame, over all attempts, after which the run fails. The default, nil, never gives up.
    public var giveUp: Duration?

    public init() {}
}

/// How long a capturer waits for its source. Every wait has an end.
///
/// A source that sleeps on purpose, through ``SourceContext/sleep(until:)``, does not use up its time; and a source
/// that states a rate always has three frames' time, however low that rate. Data is what counts, where a source reports
/// it through ``SourceContext/reportProgress()``: a camera of which few frames are wanted is not silent between them.
public struct CaptureTimeouts: Sendable, Hashable {
    /// For opening: after it the source is closed and opened again. The default is 10 seconds.
    public var open = Duration.seconds(10)
    /// From the opening to the first frame: restarts the source, too. The default is 10 seconds.
    public var firstFrame = Duration.seconds(10)
    /// Without any data: restarts the source, too. A source whose data gives no frame gets three times as long, and
    /// never less than the time of three frames at the rate that sinks want. The default is 10 seconds.
    public var nextFrame = Duration.seconds(10)
    /// Without any data for this long, the state becomes ``CapturerState/stalled`` and the ``OutagePolicy`` sets in.
    /// The default is 1 second.
    public var stall = Duration.seconds(1)
    /// Without a frame for this long, over all attempts, the run fails. The default, nil, never gives up.
    public var giveUp: Duration?

    public init() {}
}

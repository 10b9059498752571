public import Logging

/// How a capturer works, apart from its source. Every property has a default.
public struct CapturerConfiguration: Sendable {
    /// How many converted pictures may be out at once: those that wait, those that sinks hold, those that the
    /// application keeps. A frame for which there is none is dropped and counted. The default is 32.
    public var poolCapacity = 32
    /// End after this many captured frames. The default, nil, is no limit.
    public var frameLimit: UInt64?
    /// End after this much time on the frames' timeline. The default, nil, is no limit.
    public var durationLimit: Duration?
    /// End when the last sink has failed, stopped or been detached during the run, rather than capture for no one. The
    /// default is false: sinks may be attached at any time.
    public var endsWithoutSinks = false
    /// How long the source may take for what it does. See ``CaptureTimeouts`` for the defaults.
    public var timeouts = CaptureTimeouts()
    /// What follows when the source fails. The default tries again for ever, with growing delays, whatever another
    /// attempt may mend. A file that failed in its middle is never begun anew.
    public var retry = RetryPolicy()
    /// What sinks get while there are no frames. The default is nothing.
    public var outage = OutagePolicy()
    /// What sinks get while the track is disabled, at the rate of ``outage``. The default is nothing.
    public var disabledPicture = OutagePolicy.Picture.nothing
    /// How many threads of sources that ignore their cancellation are borne before the run fails. The default is 4.
    public var maximumAbandonedThreads = 4
    /// How long a source may take to close, whether it was stopped or ended by itself, and a sink to finish after a
    /// stop or a detach, before they are given up with an error. The default is 5 seconds.
    public var stopTimeout = Duration.seconds(5)
    /// Is told of every frame when its way to a sink has ended. The default is nobody.
    public var tracer: (any FrameTracer)?
    /// Where messages go. The default is a logger labelled `inlet`.
    public var logger = Logger(label: "inlet")

    public init() {}
}

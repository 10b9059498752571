public import InletCore
package import InletSystem
public import Logging

/// Configures a capturer, apart from its source. Every property has a default.
public struct CapturerConfiguration: Sendable {
    /// The most converted pictures that may be in use at once: queued, held by sinks, or kept by the application. A
    /// frame for which none is free is dropped and counted. The default is 32.
    public var poolCapacity = 32
    /// The number of captured frames after which the run ends. The default, nil, means no limit.
    public var frameLimit: UInt64?
    /// The time on the frames' timeline after which the run ends. The default, nil, means no limit.
    public var durationLimit: Duration?
    /// Whether the run ends when the last sink has failed, stopped or been detached during the run, rather than
    /// capture for no one. The default is false: sinks may be attached at any time.
    public var endsWithoutSinks = false
    /// The time for which a live source stays open while no sink has use for it: no sink is attached, or the attached
    /// ones have neither viewers nor peers. It is opened again for the first viewer. It is always opened at the start,
    /// because sinks begin with its first frame; the time counts from then. The default, nil, keeps it open.
    public var closesUnwatchedAfter: Duration?
    /// The time that the source may take for each operation. See ``CaptureTimeouts`` for the defaults.
    public var timeouts = CaptureTimeouts()
    /// The reaction to a failure of the source. The default retries without limit, with growing delays, if another
    /// attempt may succeed. A file that failed in its middle is never restarted.
    public var retry = RetryPolicy()
    /// The pictures that sinks get while there are no frames. By default, sinks get nothing.
    public var outage = OutagePolicy()
    /// The pictures that sinks get while the track is disabled, at the rate of ``outage``. By default, sinks get
    /// nothing.
    public var disabledPicture = OutagePolicy.Picture.nothing
    /// The most threads of sources that ignore their cancellation before the run fails. The default is 4.
    public var maximumAbandonedThreads = 4
    /// The time that a source may take to close, whether it was stopped or ended, and a sink to finish after a stop or
    /// a detach, before they are given up with an error. The default is 5 seconds.
    public var stopTimeout = Duration.seconds(5)
    /// The plug-ins that filter pictures for sinks that want it (``SinkWants/filters``): the first that has a filter is
    /// used. ``PluginRegistry/filters`` has those of a registry. The default is an empty list: pictures stay as they
    /// are, and the first one that a sink wants filtered is logged.
    public var filters: [FilterPlugin] = []
    /// The tracer that is notified of every frame when it has been delivered to a sink or dropped. The default is nil.
    public var tracer: (any FrameTracer)?
    /// The logger for messages. The default is labelled `inlet`.
    public var logger = Logger(label: "inlet")

    /// The account of the processor time of all threads of the capture. The default is nil.
    package var account: ProcessorAccount?

    public init() {}
}

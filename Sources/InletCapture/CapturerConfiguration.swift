public import InletCore
public import Logging

/// How a capturer works, apart from its source. Every property has a default.
public struct CapturerConfiguration: Sendable {
    /// How many converted pictures may be out at once: those that wait, those that sinks hold, those that the application keeps. A frame
    /// for which there is none is dropped and counted. The default is 32.
    public var poolCapacity = 32
    /// End after this many captured frames. The default, nil, is no limit.
    public var frameLimit: UInt64?
    /// End after this much time on the frames' timeline. The default, nil, is no limit.
    public var durationLimit: Duration?
    /// End when the last sink has failed or stopped, rather than capture for no one. The default is false: sinks may be attached at any
    /// time.
    public var endsWithoutSinks = false
    /// How long a stop waits for the source to let go and for a sink to finish before it gives them up with an error. The default is 5 seconds.
    public var stopTimeout = Duration.seconds(5)
    /// Where messages go. The default is a logger labelled `inlet`.
    public var logger = Logger(label: "inlet")

    public init() {}
}

/// Why a run ended, where it did not fail.
public enum EndReason: String, Sendable, Hashable, CaseIterable {
    /// The source has no more frames.
    case endOfStream
    /// ``Capturer/stop()`` was called, or the task was cancelled.
    case cancelled
    /// ``CapturerConfiguration/frameLimit`` was reached.
    case frameLimit
    /// ``CapturerConfiguration/durationLimit`` was reached.
    case durationLimit
    /// No sink was left, and ``CapturerConfiguration/endsWithoutSinks`` is set.
    case noSinks
}

/// What a capturer does now.
public enum CapturerState: Sendable, Equatable {
    /// Not started yet.
    case idle
    /// The source is being opened.
    case opening
    /// Frames are read.
    case live
    /// It is over; a new capturer is needed to begin again.
    case ended(EndReason?)
}

/// Something that happened to a capturer.
public enum CapturerEvent: Sendable {
    /// The capturer went into another state.
    case stateChanged(CapturerState)
    /// The source was opened and says this of itself.
    case opened(SourceFormat)
    /// A sink has ended: at the end of the stream or when it had enough, without an error; or because it failed.
    case sinkEnded(SinkID, name: String, InletError?)
    /// A sink has failed and is made anew after a while, by its ``SinkFailurePolicy``. Attempts are counted from 1.
    case sinkRestarting(SinkID, name: String, InletError, attempt: Int, delay: Duration)
}

public import InletCore

/// Something that happened to a capturer.
public enum CapturerEvent: Sendable {
    /// The capturer went into another state.
    case stateChanged(CapturerState)
    /// The source was opened and says this of itself. Comes again after every reconnect.
    case opened(SourceFormat)
    /// The source failed. It is opened again after `retryIn`, or never where that is nil: the run then ends.
    case sourceFailed(InletError, retryIn: Duration?)
    /// A source did not react to its cancellation, or did not close, within ``CapturerConfiguration/stopTimeout``. Its
    /// thread was given up: it stays in ``SupervisionFigures/abandonedThreads`` until the source returns after all.
    case sourceAbandoned(InletError)
    /// The first frame after an interruption or a reconnect, or the first data after a stall, and how long there was
    /// none.
    case recovered(after: Duration)
    /// Decoding does not keep up with a live stream: pictures that would be late are left out from now on, or, where it
    /// is false, no more.
    case lagging(Bool)
    /// A decoder could not be opened, or failed, and another goes on from the next key frame on.
    case decoderFailed(name: String, InletError, next: String)
    /// A sink has ended: at the end of the stream or when it had enough, without an error; or because it failed.
    case sinkEnded(SinkID, name: String, InletError?)
    /// A sink has failed and is made anew after a while, by its ``SinkFailurePolicy``. Attempts are counted from 1.
    case sinkRestarting(SinkID, name: String, InletError, attempt: Int, delay: Duration)
}

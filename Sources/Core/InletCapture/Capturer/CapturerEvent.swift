public import InletCore

/// Something that happened to a capturer.
public enum CapturerEvent: Sendable {
    /// The capturer entered another state.
    case stateChanged(CapturerState)
    /// The source was opened and described itself. Sent again after every reconnect.
    case opened(SourceFormat)
    /// The source failed. It is opened again after `retryIn`; if that is nil, the run ends.
    case sourceFailed(InletError, retryIn: Duration?)
    /// A source did not react to its cancellation, or did not close, within ``CapturerConfiguration/stopTimeout``. Its
    /// thread was given up: it counts in ``SupervisionFigures/abandonedThreads`` until the source returns after all.
    case sourceAbandoned(InletError)
    /// The first frame after an interruption or a reconnect, or the first data after a stall, and how long the gap was.
    case recovered(after: Duration)
    /// Decoding cannot keep up with a live stream, and pictures that would be late are skipped from now on; or, if
    /// false, no longer.
    case lagging(Bool)
    /// A decoder could not be opened, or failed, and another continues at the next key frame.
    case decoderFailed(name: String, InletError, next: String)
    /// The source continues over another transport, because the one in use loses too many packets. The text states the
    /// share of lost packets and both transports.
    case transportChanged(String)
    /// A new version of the source's plug-in was found while it ran, and used or refused.
    case sourceUpdated(SourceUpdate)
    /// The source has detected something in its picture, such as motion, or the end of it.
    case detected(SourceDetection)
    /// A sink has ended: without an error at the end of the stream or when it had enough, or with the error that it
    /// failed with.
    case sinkEnded(SinkID, name: String, InletError?)
    /// A sink has failed and is recreated after a delay, by its ``SinkFailurePolicy``. Attempts are counted from 1.
    case sinkRestarting(SinkID, name: String, InletError, attempt: Int, delay: Duration)
}

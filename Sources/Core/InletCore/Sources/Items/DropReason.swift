/// The reason why a frame was not delivered. Every frame that a source yields and a sink does not get is counted under
/// one reason.
///
/// An open set: a source plug-in may count additional reasons through ``SourceContext/countDrop(_:_:)``.
public struct DropReason: Sendable, Hashable, CustomStringConvertible {
    /// The name under which drops are counted and reported.
    public let description: String
    /// Makes a reason by its name: one word in lower camel case.
    public init(_ name: String) { description = name }

    /// A newer frame replaced it in a `latest` queue.
    public static let superseded = DropReason("superseded")
    /// A `buffered` queue was full.
    public static let queueFull = DropReason("queueFull")
    /// The sink asked for a lower rate than the source gives.
    public static let rateLimited = DropReason("rateLimited")
    /// All pooled buffers were held by sinks.
    public static let poolExhausted = DropReason("poolExhausted")
    /// The native picture could not be converted.
    public static let conversionFailed = DropReason("conversionFailed")
    /// The part that the sink wants no longer lies within the picture, which has become smaller.
    public static let outsidePicture = DropReason("outsidePicture")
    /// The sink threw while it took the frame, or the frame arrived while the sink waited to be restarted after that.
    public static let sinkFailed = DropReason("sinkFailed")
    /// The run was cancelled or the sink detached while the frame was queued.
    public static let cancelled = DropReason("cancelled")
    /// The sink had no peer to send it to: no session with its server, no peer or no viewer. It was not converted.
    public static let notConnected = DropReason("notConnected")
    /// The application had disabled the track.
    public static let disabled = DropReason("disabled")
    /// The compressed data was truncated or corrupt, so the picture is incomplete.
    public static let damaged = DropReason("damaged")
    /// A compressed packet that could not be decoded at all.
    public static let undecodable = DropReason("undecodable")
    /// Decoding did not keep up with a live stream, and the picture was, or would have been, later than allowed.
    public static let late = DropReason("late")
    /// The frame is older than what was delivered before it, so it has no place on the timeline.
    public static let outOfOrder = DropReason("outOfOrder")
    /// The driver or network lost it before Inlet saw it: a gap in the sequence, which the bridge counts.
    public static let lostBySource = DropReason("lostBySource")
}

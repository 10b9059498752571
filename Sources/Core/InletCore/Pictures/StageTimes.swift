/// The times at which a frame passed each stage on its way, on the monotonic clock; nil if the stage was skipped or is
/// unknown.
public struct StageTimes: Sendable, Hashable {
    /// The device exposed or read out the picture.
    public var captured: MonotonicTime?
    /// Its compressed data had completely arrived.
    public var received: MonotonicTime?
    /// The source handed over the decoded picture.
    public var decoded: MonotonicTime?
    /// It was put into the sink's mailbox.
    public var queued: MonotonicTime?
    /// The sink's queue took it out of the mailbox.
    public var taken: MonotonicTime?
    /// It had been converted to I420 in the sink's size.
    public var converted: MonotonicTime?
    /// It was handed to the sink.
    public var delivered: MonotonicTime?

    public init() {}
}

public import InletCore

/// What became of one frame on its way to one sink, and when.
public struct FrameTrace: Sendable, Hashable {
    /// The source by its URI, without credentials.
    public var source: String
    /// Names the attachment of the sink.
    public var sinkID: SinkID
    /// What the sink was called when it was attached.
    public var sink: String
    /// The frame's number.
    public var sequence: UInt64
    /// The frame's place on the capture timeline.
    public var timestamp: MonotonicTime
    /// When it passed each stage that it reached.
    public var stages: StageTimes
    /// When the sink had taken it, or when it was dropped. For a ``FrameSequence`` it is the time at which the frame
    /// was handed over, since what follows is not seen.
    public var end: MonotonicTime
    /// Why the sink did not get it, or nil where it did.
    public var dropReason: DropReason?

    /// For tests of tracers; the capturer makes them otherwise.
    public init(
        source: String, sinkID: SinkID, sink: String, sequence: UInt64, timestamp: MonotonicTime, stages: StageTimes,
        end: MonotonicTime, dropReason: DropReason? = nil
    ) {
        self.source = source
        self.sinkID = sinkID
        self.sink = sink
        self.sequence = sequence
        self.timestamp = timestamp
        self.stages = stages
        self.end = end
        self.dropReason = dropReason
    }
}

public import InletCore

/// The events of one frame on its way to one sink, with their times.
public struct FrameTrace: Sendable, Hashable {
    /// The source's URI, without credentials.
    public var source: String
    /// Identifies the attachment of the sink.
    public var sinkID: SinkID
    /// The sink's name, given when it was attached.
    public var sink: String
    /// The frame's number.
    public var sequence: UInt64
    /// The frame's place on the capture timeline.
    public var timestamp: MonotonicTime
    /// The times at which the frame passed each stage that it reached.
    public var stages: StageTimes
    /// The time at which the sink had taken the frame, or at which it was dropped. For a ``FrameSequence``, the time at
    /// which the frame was handed over, since what follows cannot be observed.
    public var end: MonotonicTime
    /// The reason why the sink did not get the frame, or nil if it did.
    public var dropReason: DropReason?

    /// Makes a trace, for tests of tracers; otherwise the capturer makes them.
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

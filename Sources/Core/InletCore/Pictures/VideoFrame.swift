/// A frame as a sink gets it: an I420 picture with its place on the capture timeline.
///
/// A value that shares its pixels. Keep it as long as needed, on any thread; the pool cannot reuse the memory of a
/// picture that is kept.
public struct VideoFrame: Sendable {
    /// The picture, before rotation unless the sink asked for it to be applied.
    public var buffer: I420Buffer
    /// The time at which the picture was taken, on the machine's monotonic clock: derived from the PTS, strictly
    /// increasing for one sink. For an unpaced source it continues from the first frame at the PTS's spacing, and so
    /// runs ahead of the clock.
    public var timestamp: MonotonicTime
    /// The source's own presentation time, exact; nil if it gave none.
    public var pts: MediaTime?
    /// The time for which the picture is shown, if the source knows.
    public var duration: MediaTime?
    /// The source's frame number, from 0, with gaps for frames that were lost or dropped.
    public var sequence: UInt64
    /// How to interpret the samples as colour.
    public var colorSpace: ColorSpace
    /// The clockwise rotation that shows the picture upright.
    public var rotation: Rotation
    /// Facts about this frame.
    public var flags: FrameFlags
    /// The width of a pixel over its height; nil if unknown.
    public var sampleAspectRatio: Rational?
    /// How the rows of the picture were taken. The default is ``FieldOrder/progressive``.
    public var fieldOrder = FieldOrder.progressive
    /// The time of day at which the picture was taken, in nanoseconds since 1970, if the source knows it.
    public var wallClock: Int64?
    /// The times at which the frame passed each stage.
    public var stages: StageTimes

    public init(
        buffer: I420Buffer, timestamp: MonotonicTime, pts: MediaTime? = nil, duration: MediaTime? = nil,
        sequence: UInt64, colorSpace: ColorSpace = .unspecified, rotation: Rotation = .none, flags: FrameFlags = [],
        sampleAspectRatio: Rational? = nil, wallClock: Int64? = nil, stages: StageTimes = StageTimes()
    ) {
        self.buffer = buffer
        self.timestamp = timestamp
        self.pts = pts
        self.duration = duration
        self.sequence = sequence
        self.colorSpace = colorSpace
        self.rotation = rotation
        self.flags = flags
        self.sampleAspectRatio = sampleAspectRatio
        self.wallClock = wallClock
        self.stages = stages
    }

    /// The size of the picture as it lies in memory.
    public var size: ImageSize { buffer.size }
}

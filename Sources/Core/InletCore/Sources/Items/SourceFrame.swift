/// A picture as its source made it: native pixel format, borrowed memory, and the owner that keeps that memory alive.
///
/// Queues hold `SourceFrame`s; a frame is converted to I420 only when a sink takes it.
public struct SourceFrame: Sendable {
    /// How the bytes are laid out.
    public var pixelFormat: PixelFormat
    /// The size of the picture, before any rotation.
    public var size: ImageSize
    /// The planes of pixels. Valid while ``owner`` lives.
    public var planes: SourcePlanes
    /// Keeps the planes' memory alive and unwritten; released on whichever thread drops the last reference.
    public var owner: any AnyObject & Sendable
    /// The presentation time on the source's own timeline; nil if the source has none: the capture clock then uses the
    /// time of arrival, and counts that.
    public var pts: MediaTime?
    /// The time for which the picture is shown, if the source knows.
    public var duration: MediaTime?
    /// Counts the frames that the source produced, from 0.
    ///
    /// A gap is a loss before Inlet saw the frame. The bridge counts it as ``DropReason/lostBySource``, so a source
    /// that leaves a gap must not count it again. A frame that the source counted under its own reason leaves no gap,
    /// and neither does one that was never made: skipped because of the ``SourceContext/demand``, or due during a
    /// pause.
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
    /// The time at which the device exposed or read out the picture, if it reports that (V4L2), or when a picture of a
    /// recording that is played at its own speed was due (``SourcePacing/realtime``).
    public var captureTime: MonotonicTime?
    /// The time at which the picture's compressed data had completely arrived, if it was compressed.
    public var receiveTime: MonotonicTime?
    /// The time of day at which the picture was taken, in nanoseconds since 1970, if the source knows it (RTCP sender
    /// reports).
    public var wallClock: Int64?

    public init(
        pixelFormat: PixelFormat, size: ImageSize, planes: SourcePlanes, owner: any AnyObject & Sendable,
        pts: MediaTime?, duration: MediaTime? = nil, sequence: UInt64, colorSpace: ColorSpace = .unspecified,
        rotation: Rotation = .none, flags: FrameFlags = [], sampleAspectRatio: Rational? = nil
    ) {
        self.pixelFormat = pixelFormat
        self.size = size
        self.planes = planes
        self.owner = owner
        self.pts = pts
        self.duration = duration
        self.sequence = sequence
        self.colorSpace = colorSpace
        self.rotation = rotation
        self.flags = flags
        self.sampleAspectRatio = sampleAspectRatio
    }

    /// Makes a frame that is I420 already. Nothing is copied.
    public init(
        _ buffer: I420Buffer, pts: MediaTime?, duration: MediaTime? = nil, sequence: UInt64,
        colorSpace: ColorSpace = .unspecified, rotation: Rotation = .none, flags: FrameFlags = []
    ) {
        self.init(
            pixelFormat: .yuv420p, size: buffer.size, planes: SourcePlanes(buffer), owner: buffer, pts: pts,
            duration: duration, sequence: sequence, colorSpace: colorSpace, rotation: rotation, flags: flags,
            sampleAspectRatio: Rational(1))
    }
}

/// The format of frames when they reach a sink.
public struct VideoFormat: Sendable, Hashable {
    /// The size of the pictures, before any rotation.
    public var size: ImageSize
    /// The length in seconds of one tick of the frames' PTS.
    public var timeBase: Rational
    /// Frames a second, if the source stated a rate.
    public var frameRate: Rational?
    /// How to interpret the samples as colour.
    public var colorSpace: ColorSpace
    /// The clockwise rotation that shows the pictures upright.
    public var rotation: Rotation
    /// The width of a pixel over its height; nil if unknown.
    public var sampleAspectRatio: Rational?
    /// How the rows of the first picture were taken. The default is ``FieldOrder/progressive``.
    public var fieldOrder = FieldOrder.progressive

    public init(
        size: ImageSize, timeBase: Rational, frameRate: Rational? = nil, colorSpace: ColorSpace = .unspecified,
        rotation: Rotation = .none, sampleAspectRatio: Rational? = nil
    ) {
        self.size = size
        self.timeBase = timeBase
        self.frameRate = frameRate
        self.colorSpace = colorSpace
        self.rotation = rotation
        self.sampleAspectRatio = sampleAspectRatio
    }
}

/// The combined demand of all sinks: the least that a source may deliver without any sink missing something.
///
/// It is a hint, never an order. A source that can save work follows it: a camera switches to a lower rate, a decoder
/// skips frames that no other refers to, or decodes key frames only. The bridge scales and thins out whatever still
/// arrives.
public struct SourceDemand: Sendable, Hashable {
    /// The most frames a second that any sink takes. The default, nil, means all frames.
    public var maximumFrameRate: Rational?
    /// The largest pictures that any sink takes, before any rotation. The default, nil, is the source's own size.
    public var largestSize: ImageSize?
    /// Whether a sink takes packets as they are: a source that has them yields each as ``SourceItem/packet(_:)`` before
    /// it decodes it. The default is false.
    public var packets = false
    /// Whether any sink takes pictures: if not, a source that yields packets need not decode. The default is true.
    public var pictures = true

    /// Whether the source waits for a sink that is to get every picture, however late. The default is false.
    public var isLossless = false

    /// Whether pictures are unwanted only because the sinks that take them have not used any for a while. A decoder
    /// that could not resume at once for a new picture then keeps decoding. The default is false.
    package var hasIdleSinks = false

    /// Whether only key frames are to be decoded, to save processor time. The default is false.
    package var keyFramesOnly = false

    /// Makes a demand; it demands everything by default.
    public init(maximumFrameRate: Rational? = nil, largestSize: ImageSize? = nil) {
        self.maximumFrameRate = maximumFrameRate
        self.largestSize = largestSize
    }

    /// All frames at their full size.
    public static let everything = SourceDemand()
}

/// The least that a source may deliver without any sink missing something: what all sinks together want.
///
/// A hint, never an order. A source that can save work by it does: a camera goes to a lower rate, a decoder leaves out
/// frames that no other refers to, or decodes key frames only. The bridge scales and thins out whatever still comes.
public struct SourceDemand: Sendable, Hashable {
    /// No sink takes more frames a second than this. The default, nil, is all that there are.
    public var maximumFrameRate: Rational?
    /// No sink takes pictures larger than this, before any rotation. The default, nil, is the source's own size.
    public var largestSize: ImageSize?
    /// Whether a sink takes packets as they are: a source that has them yields each as ``SourceItem/packet(_:)`` before
    /// it decodes it. The default is false.
    public var packets = false
    /// Whether anyone takes pictures: a source that yields packets need not decode otherwise. The default is true.
    public var pictures = true

    /// Whether the source waits for a sink, which is to get every picture, however late. The default is false.
    public var isLossless = false

    /// Everything, where nothing is given.
    public init(maximumFrameRate: Rational? = nil, largestSize: ImageSize? = nil) {
        self.maximumFrameRate = maximumFrameRate
        self.largestSize = largestSize
    }

    /// All frames at their full size.
    public static let everything = SourceDemand()
}

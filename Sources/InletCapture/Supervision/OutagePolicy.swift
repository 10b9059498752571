public import InletCore

/// What sinks get while the source has no frames: in a stall, an interruption, and from a failure to the first frame
/// after it.
///
/// It starts ``CaptureTimeouts/stall`` after the last frame and ends with the first real one. Its frames carry
/// ``FrameFlags/placeholder``. Nothing is shown while the capturer is paused; before the source has been open for the
/// first time, placeholders go only to sinks that want a ``SinkWants/size`` of their own, since others begin with the
/// source's.
public struct OutagePolicy: Sendable, Hashable {
    /// What a placeholder shows.
    public enum Picture: String, Sendable, Hashable, CaseIterable {
        /// No placeholders: no frame is better than a wrong one.
        case nothing = "none"
        /// The last frame, repeated.
        case hold
        /// A black picture.
        case black
        /// A dark picture with the state in words.
        case text
    }

    /// What placeholders show. The default is ``Picture/nothing``.
    public var picture: Picture
    /// The placeholders a second. The default is 5: enough for players and encoders not to give up.
    public var frameRate: Rational
    /// The size of placeholders before the source has been open; afterwards it is the source's. The default is 640x480.
    public var size: ImageSize

    public init(
        _ picture: Picture = .nothing, frameRate: Rational = Rational(5),
        size: ImageSize = ImageSize(width: 640, height: 480)
    ) {
        self.picture = picture
        self.frameRate = frameRate
        self.size = size
    }
}

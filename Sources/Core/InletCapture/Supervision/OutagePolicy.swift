public import InletCore

/// The pictures that sinks get while the source has no frames: in a stall, in an interruption, and from a failure to
/// the next frame.
///
/// An outage starts ``CaptureTimeouts/stall`` after the last frame and ends with the next real one. Its frames carry
/// ``FrameFlags/placeholder``. Nothing is shown while the capturer is paused. Before the source has been open for the
/// first time, placeholders go only to sinks that request a ``SinkWants/size``, since others begin with the source's
/// size.
public struct OutagePolicy: Sendable, Hashable {
    /// The content of a placeholder.
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

    /// The content of placeholders. The default is ``Picture/nothing``.
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

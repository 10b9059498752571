public import InletCore

/// A video track that is sent to peers and controlled by the application. Safe from any thread; changes take effect
/// with the next frame.
public protocol VideoTrack: AnyObject, Sendable {
    /// The current state.
    var state: VideoTrackState { get }

    /// The states from now on, starting with the current one. Each access returns a separate sequence.
    var states: AsyncStream<VideoTrackState> { get }

    /// Whether the application wants its pictures shown. If not, peers stay connected, and get nothing or black. The
    /// default is true.
    var isEnabled: Bool { get set }

    /// The pictures for peers while the track is not enabled. The default is ``DisabledPicture/black``.
    var disabledPicture: DisabledPicture { get set }

    /// Offers the track to peers again. It is published initially.
    func publish()

    /// Withdraws the track until ``publish()``: nothing is sent. Sessions with peers continue, and their descriptions
    /// state that the track is inactive; viewers' sessions by WHEP, which has no second offer, end, and new viewers are
    /// refused.
    func unpublish()

    /// Limits pictures to a size and a rate from now on. Larger ones are scaled down to fit, keeping their aspect
    /// ratio.
    ///
    /// - Parameters:
    ///   - size: the size of the sent picture, which is upright unless peers rotate it themselves; nil for the
    ///     configured size.
    ///   - frameRate: frames a second; nil for the configured rate.
    /// - Throws: ``InletError/Code/invalidConfiguration`` for impossible values.
    func adapt(to size: ImageSize?, frameRate: Rational?) throws(InletError)
}

extension VideoTrack {
    /// Whether the source has no pictures at present.
    public var isMuted: Bool { state.isMuted }
    /// Whether peers may connect: the application allows it, and the source is not turned off.
    public var isPublished: Bool { state.isPublished }

    /// Limits pictures to a size and a rate from now on.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for impossible values.
    public func adapt(width: Int, height: Int, frameRate: Rational? = nil) throws(InletError) {
        try adapt(to: ImageSize(width: width, height: height), frameRate: frameRate)
    }
}

/// The pictures for peers of a track that is not enabled.
public enum DisabledPicture: String, Sendable, Hashable, CaseIterable {
    /// Black at the size of the picture, a few times a second: players continue normally.
    case black
    /// The words "camera off" on grey, a few times a second.
    case text
    /// Nothing: most players keep showing the last picture.
    case nothing = "none"
}

/// The state of a track as peers see it.
public struct VideoTrackState: Sendable, Hashable {
    /// Whether peers may connect.
    public var isPublished: Bool
    /// Whether the application wants its pictures shown.
    public var isEnabled: Bool
    /// Whether the source has no pictures at present.
    public var isMuted: Bool

    public init(isPublished: Bool = true, isEnabled: Bool = true, isMuted: Bool = false) {
        self.isPublished = isPublished
        self.isEnabled = isEnabled
        self.isMuted = isMuted
    }

    /// The state for an audience, in one word.
    public enum Shown: String, Sendable, Hashable, CaseIterable {
        /// Pictures are shown.
        case live
        /// The source has no pictures at present, and may have some at any time.
        case muted
        /// The application does not want them shown.
        case disabled
        /// The track is not published.
        case off
    }

    /// The state for an audience, in one word.
    public var shown: Shown { !isPublished ? .off : !isEnabled ? .disabled : isMuted ? .muted : .live }
}

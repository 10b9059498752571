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

    /// Offers the track to peers again. It is published initially.
    func publish()

    /// Withdraws the track: the peers' sessions end, and new peers are turned away until ``publish()``.
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

    /// What an audience sees, in one word.
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

    /// What an audience sees, in one word.
    public var shown: Shown { !isPublished ? .off : !isEnabled ? .disabled : isMuted ? .muted : .live }
}

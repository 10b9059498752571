public import InletCore

/// A picture that is sent to peers, as an application steers it. Safe from any thread; what is asked for takes effect
/// with the next frame.
public protocol VideoTrack: AnyObject, Sendable {
    /// What peers get now.
    var state: VideoTrackState { get }

    /// What peers get from now on, beginning with now. Each call makes a sequence of its own.
    var states: AsyncStream<VideoTrackState> { get }

    /// Whether the application wants its pictures shown. Peers stay connected meanwhile, and get nothing or black. The
    /// default is true.
    var isEnabled: Bool { get set }

    /// Offers the track to peers again. It is published at first.
    func publish()

    /// Takes the track away from peers: their sessions end, and others are turned away until ``publish()``.
    func unpublish()

    /// Sends pictures of at most this size and rate from now on. Those that are larger are scaled down until they fit,
    /// keeping their shape.
    ///
    /// - Parameters:
    ///   - size: of the picture as it is sent, which is upright unless peers turn it themselves; nil for what was
    ///     configured.
    ///   - frameRate: frames a second; nil for what was configured.
    /// - Throws: ``InletError/Code/invalidConfiguration`` for what cannot be.
    func adapt(to size: ImageSize?, frameRate: Rational?) throws(InletError)
}

extension VideoTrack {
    /// Whether there are no pictures for now, which the source decides.
    public var isMuted: Bool { state.isMuted }
    /// Whether peers may come: the application wants it, and the source is not turned off.
    public var isPublished: Bool { state.isPublished }

    /// Sends pictures of at most this size and rate from now on.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for what cannot be.
    public func adapt(width: Int, height: Int, frameRate: Rational? = nil) throws(InletError) {
        try adapt(to: ImageSize(width: width, height: height), frameRate: frameRate)
    }
}

/// What peers get of a track.
public struct VideoTrackState: Sendable, Hashable {
    /// Whether peers may come.
    public var isPublished: Bool
    /// Whether the application wants its pictures shown.
    public var isEnabled: Bool
    /// Whether the source has no pictures to give for now.
    public var isMuted: Bool

    public init(isPublished: Bool = true, isEnabled: Bool = true, isMuted: Bool = false) {
        self.isPublished = isPublished
        self.isEnabled = isEnabled
        self.isMuted = isMuted
    }

    /// What an audience is told, in one word.
    public enum Shown: String, Sendable, Hashable, CaseIterable {
        /// Pictures come.
        case live
        /// The source has none for now, and may have some at any time.
        case muted
        /// The application does not want them shown.
        case disabled
        /// The track is not published.
        case off
    }

    /// What an audience is told, in one word.
    public var shown: Shown { !isPublished ? .off : !isEnabled ? .disabled : isMuted ? .muted : .live }
}

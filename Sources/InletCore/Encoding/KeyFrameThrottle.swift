/// Keeps requests for key frames, which are many times the size of others, from coming too close: decides, without a
/// clock or a timer.
///
/// The first request is granted with the next picture. What is asked for within the interval after a key frame is
/// granted once, when the interval is over: no request is lost. A key frame that the encoder makes of itself serves all
/// requests before it.
public struct KeyFrameThrottle: Sendable {
    /// The least time from one key frame to the next that is asked for, where the request has no shorter one.
    public let interval: Duration
    /// The interval of the most urgent request; nil without any.
    private var requested: Duration?
    private var lastKeyFrame: MonotonicTime?

    /// - Parameter interval: the least time from a key frame to one that is asked for. The default is half a second.
    public init(interval: Duration = .milliseconds(500)) { self.interval = interval }

    /// Someone needs a key frame.
    ///
    /// - Parameter interval: a shorter one, for this request, as of somebody who has no picture at all yet. The
    ///   default, nil, is the throttle's.
    public mutating func request(after interval: Duration? = nil) {
        let interval = interval ?? self.interval
        requested = requested.map { min($0, interval) } ?? interval
    }

    /// Whether the picture that is encoded now shall be a key frame.
    public func isDue(at now: MonotonicTime) -> Bool {
        guard let requested else { return false }
        return lastKeyFrame.map { now - $0 >= requested } ?? true
    }

    /// A picture was made a key frame, asked for or not. Tell it when the picture goes in, so that requests for it are
    /// known from later ones.
    public mutating func noteKeyFrame(at now: MonotonicTime) {
        requested = nil
        lastKeyFrame = now
    }
}

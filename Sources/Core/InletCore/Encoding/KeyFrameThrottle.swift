/// Keeps requests for key frames, which are many times the size of others, from following too closely: decides, without
/// a clock or a timer.
///
/// The first request is granted with the next picture. Requests within the interval after a key frame are granted once,
/// when the interval is over: no request is lost. A key frame that the encoder makes on its own serves all requests
/// before it.
public struct KeyFrameThrottle: Sendable {
    /// The least time from one key frame to the next requested one, if the request has no shorter interval.
    public let interval: Duration
    /// The interval of the most urgent request; nil without a request.
    private var requested: Duration?
    private var lastKeyFrame: MonotonicTime?

    /// - Parameter interval: the least time from a key frame to a requested one. The default is half a second.
    public init(interval: Duration = .milliseconds(500)) { self.interval = interval }

    /// Requests a key frame.
    ///
    /// - Parameter interval: a shorter one, for this request, as for a viewer that has no picture at all yet. The
    ///   default, nil, is the throttle's interval.
    public mutating func request(after interval: Duration? = nil) {
        let interval = interval ?? self.interval
        requested = requested.map { min($0, interval) } ?? interval
    }

    /// Whether the picture to be encoded now should be a key frame.
    public func isDue(at now: MonotonicTime) -> Bool {
        guard let requested else { return false }
        return lastKeyFrame.map { now - $0 >= requested } ?? true
    }

    /// Records that a picture was made a key frame, requested or not. Call it when the picture is sent to the encoder,
    /// so that requests for it are distinguished from later ones.
    public mutating func noteKeyFrame(at now: MonotonicTime) {
        requested = nil
        lastKeyFrame = now
    }
}

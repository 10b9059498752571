/// Counts the requests for key frames that a source is told, without a clock or a lock.
///
/// A request is counted at once if the last one is old enough, and else once it is. A key frame that comes meanwhile
/// serves the requests that have not been counted yet.
struct KeyFrameRequests: Sendable {
    /// The least time from one counted request to the next: a key frame is many times the size of another packet.
    static let interval = Duration.seconds(1)

    /// The requests that the source is told.
    private(set) var count = 0
    /// Whether a request waits to be counted.
    private(set) var isPending = false
    private var last: MonotonicTime?

    /// Records that somebody needs a key frame.
    mutating func request() { isPending = true }

    /// Records that a key frame came.
    mutating func noteKeyFrame() { isPending = false }

    /// Counts the request that waits, if it is time.
    mutating func take(at now: MonotonicTime) {
        guard isPending, last.map({ now - $0 >= Self.interval }) ?? true else { return }
        isPending = false
        count &+= 1
        last = now
    }
}

/// Counts the requests for key frames that are passed to a source, without a clock or a lock.
///
/// A request is counted as soon as the last counted one is old enough. A key frame that comes meanwhile
/// serves the requests that have not been counted yet.
struct KeyFrameRequests: Sendable {
    /// The least time from one counted request to the next: a key frame is many times the size of another packet.
    static let interval = Duration.seconds(1)

    /// The number of requests passed to the source.
    private(set) var count = 0
    /// Whether a request waits to be counted.
    private(set) var isPending = false
    private var last: MonotonicTime?

    /// Records that a key frame is needed.
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

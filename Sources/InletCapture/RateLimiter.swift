import InletCore

/// Thins frames out to a rate, evenly by their timestamps rather than by when they happen to come.
struct RateLimiter {
    private let interval: Int64
    private var origin: MonotonicTime?
    private var previous: MonotonicTime?
    private var nextSlot: Int64 = 0

    /// - Parameter maximumFrameRate: frames a second, greater than zero.
    init(maximumFrameRate: Rational) {
        interval = max(1, MediaTime(ticks: 1, timeBase: maximumFrameRate.reciprocal ?? Rational(1)).nanoseconds)
    }

    /// Whether the frame of this time is one to deliver.
    ///
    /// Time is cut into slots of one interval each, and the first frame in a slot is taken. Half a frame of grace, at most a quarter of an
    /// interval, lets a frame that comes a little early, by jitter or by a rate that is not quite a divisor, stand for the slot it is nearest to.
    mutating func admits(_ time: MonotonicTime) -> Bool {
        let start = origin ?? time
        origin = start
        let spacing = previous.map { (time - $0).wholeNanoseconds } ?? 0
        previous = time
        let slot = ((time - start).wholeNanoseconds + min(max(0, spacing / 2), interval / 4)) / interval
        guard slot >= nextSlot else { return false }
        nextSlot = slot + 1
        return true
    }
}

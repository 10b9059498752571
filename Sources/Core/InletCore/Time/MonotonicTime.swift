/// An instant on the machine's monotonic clock (`CLOCK_MONOTONIC` on Linux), in nanoseconds.
///
/// V4L2 drivers stamp buffers with this clock, which is why it is used rather than a clock that continues while the
/// machine sleeps.
public struct MonotonicTime: Sendable, Hashable, Comparable {
    /// Nanoseconds since the clock's unspecified origin.
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// A time later than every real one: "no deadline".
    public static let distantFuture = MonotonicTime(nanoseconds: .max)

    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Returns the instant `duration` later, clamped to 64 bits.
    public static func + (time: Self, duration: Duration) -> Self {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
        return Self(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// Returns the instant `duration` earlier, clamped to 64 bits.
    public static func - (time: Self, duration: Duration) -> Self { time + (.zero - duration) }

    /// Returns the time from `right` to `left`, exact.
    public static func - (left: Self, right: Self) -> Duration {
        let (difference, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        // A single conversion to 128 bits if 64 bits hold the difference.
        return overflow ? .nanoseconds(left.nanoseconds) - .nanoseconds(right.nanoseconds) : .nanoseconds(difference)
    }
}

extension Duration {
    /// The duration in nanoseconds, rounded towards zero and clamped to 64 bits.
    public var wholeNanoseconds: Int64 {
        let attoseconds = attoseconds
        // Up to 18 s, without a division of 128 bits, which takes ten times as long.
        if let short = UInt64(exactly: attoseconds) { return Int64(short / 1_000_000_000) }
        return Int64(clamping: attoseconds / 1_000_000_000)
    }
}

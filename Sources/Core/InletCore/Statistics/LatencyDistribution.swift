/// The distribution of the times that a stage took, over many frames.
public struct LatencyDistribution: Sendable, Hashable {
    /// The number of durations between the previous bucket and `upperBound`.
    public struct Bucket: Sendable, Hashable {
        /// The longest duration that falls into the bucket.
        public var upperBound: Duration
        /// The number of durations in the bucket.
        public var count: UInt64

        package init(upperBound: Duration, count: UInt64) {
            self.upperBound = upperBound
            self.count = count
        }

        /// The number that represents the bucket's durations: the middle, so that they are not all too great.
        package var middle: Duration {
            let upper = upperBound.wholeNanoseconds
            let index = Self.index(of: upper)
            let lower = index > 0 ? Self.upperBound(of: index - 1) + 1 : 0
            return .nanoseconds(lower + (upper - lower) / 2)
        }

        /// Returns the bucket of a duration: below 8 ns one bucket for each nanosecond; above, the power of two and the
        /// three bits after the leading one.
        package static func index(of nanoseconds: Int64) -> Int {
            guard nanoseconds >= 8 else { return Int(nanoseconds) }
            let power = 63 - nanoseconds.leadingZeroBitCount
            return min((power - 2) * 8 + Int((nanoseconds >> (power - 3)) & 7), bucketCount - 1)
        }

        /// Returns the greatest number of nanoseconds that falls into a bucket.
        package static func upperBound(of index: Int) -> Int64 {
            guard index < bucketCount - 1 else { return .max }
            guard index >= 8 else { return Int64(index) }
            let power = index / 8 + 2
            return (Int64(8 + index % 8 + 1) << (power - 3)) - 1
        }
    }

    /// The number of buckets: one for each of the first 8 nanoseconds, and 8 for each power of two from 2^3 to 2^41.
    package static let bucketCount = 8 * 40

    /// The buckets that are not empty, shortest first, each at most 12.5 % wide; durations of more than 2^42 ns, 73
    /// minutes, share the last.
    public private(set) var buckets: [Bucket]
    /// The longest duration, exact.
    public private(set) var maximum: Duration
    /// The sum of all durations, exact up to 292 years.
    public private(set) var total: Duration

    /// Makes an empty distribution.
    public init() { self.init(buckets: [], maximum: .zero, total: .zero) }

    package init(buckets: [Bucket], maximum: Duration, total: Duration) {
        self.buckets = buckets
        self.maximum = maximum
        self.total = total
    }

    /// The number of counted durations.
    public var count: UInt64 { buckets.reduce(0) { $0 &+ $1.count } }

    /// The average duration, or nil if none was counted.
    public var mean: Duration? {
        let count = count
        guard count > 0 else { return nil }
        return .nanoseconds(total.wholeNanoseconds / Int64(clamping: count))
    }

    /// Returns the duration that the given share of all durations does not exceed: at most 12.5 % too great; nil if
    /// none was counted, or if the share is not a number.
    ///
    /// - Parameter quantile: 0.5 for the median, 0.99 for the 99th percentile; clamped to 0 and 1.
    public func value(at quantile: Double) -> Duration? {
        let count = count
        guard count > 0, !quantile.isNaN else { return nil }
        // The number below, as a product such as 100 * 0.07 is slightly too great, and rounding up would skip a
        // duration.
        let share = min(max(quantile, 0), 1).nextDown
        let rank = UInt64(max(1, (Double(count) * share).rounded(.up)))
        var seen: UInt64 = 0
        for bucket in buckets {
            seen &+= bucket.count
            if seen >= rank { return min(bucket.upperBound, maximum) }
        }
        return maximum
    }

    /// Adds the counts of another distribution: another sink's, or another capturer's.
    public mutating func merge(_ other: LatencyDistribution) {
        var merged: [Bucket] = []
        merged.reserveCapacity(max(buckets.count, other.buckets.count))
        var (left, right) = (buckets[...], other.buckets[...])
        while let first = left.first, let second = right.first {
            if first.upperBound <= second.upperBound { left.removeFirst() }
            if second.upperBound <= first.upperBound { right.removeFirst() }
            if first.upperBound == second.upperBound {
                merged.append(Bucket(upperBound: first.upperBound, count: first.count &+ second.count))
            } else {
                merged.append(first.upperBound < second.upperBound ? first : second)
            }
        }
        buckets = merged + left + right
        maximum = max(maximum, other.maximum)
        total += other.total
    }

    /// Returns both distributions as one.
    public static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.merge(right)
        return sum
    }

    /// Returns the counts since an earlier snapshot of the same histogram, bucket by bucket.
    package func buckets(since earlier: LatencyDistribution) -> [Bucket] {
        var before = earlier.buckets[...]
        return buckets.compactMap { bucket in
            while let first = before.first, first.upperBound < bucket.upperBound { before.removeFirst() }
            let known = before.first.flatMap { $0.upperBound == bucket.upperBound ? $0.count : nil } ?? 0
            return bucket.count > known ? Bucket(upperBound: bucket.upperBound, count: bucket.count - known) : nil
        }
    }
}

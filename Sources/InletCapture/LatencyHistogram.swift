import InletCore
import Synchronization

/// How often something took how long, counted without a lock: one writer, any number of readers.
///
/// Durations fall into buckets an eighth of a power of two wide, so a percentile is at most 12.5 % off; the greatest is kept exactly.
@safe final class LatencyHistogram: Sendable {
    /// 8 buckets for each of 40 powers of two: up to 18 minutes in nanoseconds.
    private static let bucketCount = 8 * 40
    // Allocated and initialized in `init`, freed in `deinit`, and only ever touched through atomics.
    nonisolated(unsafe) private let counts: UnsafeMutablePointer<Atomic<UInt64>>
    private let greatest = Atomic(Int64(0))

    init() {
        unsafe counts = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: Self.bucketCount)
        for index in 0..<Self.bucketCount { unsafe (counts + index).initialize(to: Atomic(0)) }
    }

    deinit {
        unsafe counts.deinitialize(count: Self.bucketCount)
        unsafe counts.deallocate()
    }

    /// Counts one duration. Negative ones count as zero.
    func record(_ duration: Duration) {
        let nanoseconds = max(0, duration.wholeNanoseconds)
        unsafe counts[Self.bucket(of: nanoseconds)].add(1, ordering: .relaxed)
        greatest.max(nanoseconds, ordering: .relaxed)
    }

    /// What has been counted so far.
    var snapshot: LatencyDistribution {
        var buckets: [LatencyDistribution.Bucket] = []
        for index in 0..<Self.bucketCount {
            let count = unsafe counts[index].load(ordering: .relaxed)
            if count > 0 { buckets.append(.init(upperBound: .nanoseconds(Self.upperBound(of: index)), count: count)) }
        }
        return LatencyDistribution(
            buckets: buckets, maximum: .nanoseconds(greatest.load(ordering: .relaxed)))
    }

    /// Below 8 ns a bucket a nanosecond; above, the power of two and the three bits after the leading one.
    private static func bucket(of nanoseconds: Int64) -> Int {
        guard nanoseconds >= 8 else { return Int(nanoseconds) }
        let power = 63 - nanoseconds.leadingZeroBitCount
        let index = (power - 2) * 8 + Int((nanoseconds >> (power - 3)) & 7)
        return min(index, bucketCount - 1)
    }

    /// The greatest duration that falls into a bucket.
    private static func upperBound(of bucket: Int) -> Int64 {
        guard bucket >= 8 else { return Int64(bucket) }
        let power = bucket / 8 + 2
        return (Int64(8 + bucket % 8 + 1) << (power - 3)) - 1
    }
}

/// How long a stage took, over many frames.
public struct LatencyDistribution: Sendable, Hashable {
    /// How many durations fell between the bucket before and `upperBound`.
    public struct Bucket: Sendable, Hashable {
        /// The longest duration that falls into the bucket.
        public var upperBound: Duration
        /// How many durations did.
        public var count: UInt64
    }

    /// The buckets that are not empty, shortest first, each at most 12.5 % wide.
    public var buckets: [Bucket]
    /// The longest duration, exact.
    public var maximum: Duration

    /// How many durations were counted.
    public var count: UInt64 { buckets.reduce(0) { $0 + $1.count } }

    /// The duration that a share of all durations does not exceed, or nil where none was counted.
    ///
    /// - Parameter quantile: 0.5 for the median, 0.99 for the 99th percentile.
    public func value(at quantile: Double) -> Duration? {
        let total = count
        guard total > 0 else { return nil }
        let rank = UInt64((Double(total) * min(max(quantile, 0), 1)).rounded(.up))
        var seen: UInt64 = 0
        for bucket in buckets {
            seen += bucket.count
            if seen >= max(rank, 1) { return min(bucket.upperBound, maximum) }
        }
        return maximum
    }
}

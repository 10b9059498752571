import InletCore
import Synchronization

/// How often something took how long, counted without a lock, from any thread.
///
/// Durations fall into buckets an eighth of a power of two wide, so a percentile is at most 12.5 % too great; the
/// greatest and the sum are kept exactly. The buckets reach to 2^42 ns, which is 73 minutes; all that took longer falls
/// into the last.
final class LatencyHistogram: Sendable {
    /// A bucket for each of the first 8 nanoseconds, and 8 for each power of two from 2^3 to 2^41.
    static let bucketCount = 8 * 40
    private let counts = AtomicCounters(count: bucketCount)
    private let sum = Atomic(UInt64(0))
    private let greatest = Atomic(Int64(0))

    /// Counts one duration. Negative ones count as zero.
    func record(_ duration: Duration) { record(nanoseconds: duration.wholeNanoseconds) }

    /// Counts the time between two instants, without the 128-bit arithmetic of a `Duration`.
    func record(from start: MonotonicTime, to end: MonotonicTime) {
        let (nanoseconds, overflow) = end.nanoseconds.subtractingReportingOverflow(start.nanoseconds)
        record(nanoseconds: overflow ? (end < start ? 0 : .max) : nanoseconds)
    }

    private func record(nanoseconds: Int64) {
        let nanoseconds = max(0, nanoseconds)
        counts.add(1, at: Self.bucket(of: nanoseconds))
        sum.wrappingAdd(UInt64(nanoseconds), ordering: .relaxed)
        if nanoseconds > greatest.load(ordering: .relaxed) { greatest.max(nanoseconds, ordering: .relaxed) }
    }

    /// What has been counted so far.
    var snapshot: LatencyDistribution {
        let maximum = greatest.load(ordering: .relaxed)
        var buckets: [LatencyDistribution.Bucket] = []
        for index in 0..<Self.bucketCount {
            let count = counts.load(at: index)
            guard count > 0 else { continue }
            buckets.append(.init(upperBound: .nanoseconds(Self.upperBound(of: index)), count: count))
        }
        return LatencyDistribution(
            buckets: buckets, maximum: .nanoseconds(maximum),
            total: .nanoseconds(Int64(clamping: sum.load(ordering: .relaxed))))
    }

    /// Below 8 ns a bucket a nanosecond; above, the power of two and the three bits after the leading one.
    static func bucket(of nanoseconds: Int64) -> Int {
        guard nanoseconds >= 8 else { return Int(nanoseconds) }
        let power = 63 - nanoseconds.leadingZeroBitCount
        let index = (power - 2) * 8 + Int((nanoseconds >> (power - 3)) & 7)
        return min(index, bucketCount - 1)
    }

    /// The greatest number of nanoseconds that falls into a bucket.
    static func upperBound(of bucket: Int) -> Int64 {
        guard bucket < bucketCount - 1 else { return .max }
        guard bucket >= 8 else { return Int64(bucket) }
        let power = bucket / 8 + 2
        return (Int64(8 + bucket % 8 + 1) << (power - 3)) - 1
    }
}

import InletCore
import Synchronization

/// A histogram of durations, counted without a lock, from any thread.
///
/// Durations fall into buckets an eighth of a power of two wide, so a percentile is at most 12.5 % too great; the
/// greatest and the sum are kept exactly. The buckets reach to 2^42 ns, which is 73 minutes; longer durations fall into
/// the last.
final class LatencyHistogram: Sendable {
    private typealias Bucket = LatencyDistribution.Bucket
    private let counts = AtomicCounters(count: LatencyDistribution.bucketCount)
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
        counts.add(1, at: Bucket.index(of: nanoseconds))
        sum.wrappingAdd(UInt64(nanoseconds), ordering: .relaxed)
        if nanoseconds > greatest.load(ordering: .relaxed) { greatest.max(nanoseconds, ordering: .relaxed) }
    }

    /// The distribution so far.
    var snapshot: LatencyDistribution {
        let maximum = greatest.load(ordering: .relaxed)
        var buckets: [Bucket] = []
        for index in 0..<LatencyDistribution.bucketCount {
            let count = counts.load(at: index)
            guard count > 0 else { continue }
            buckets.append(.init(upperBound: .nanoseconds(Bucket.upperBound(of: index)), count: count))
        }
        return LatencyDistribution(
            buckets: buckets, maximum: .nanoseconds(maximum),
            total: .nanoseconds(Int64(clamping: sum.load(ordering: .relaxed))))
    }
}

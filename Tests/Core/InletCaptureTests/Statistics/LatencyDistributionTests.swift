import InletCore
import Testing

@testable import InletCapture

@Suite struct LatencyDistributionTests {
    private func distribution(_ nanoseconds: [Int64]) -> LatencyDistribution {
        let histogram = LatencyHistogram()
        for value in nanoseconds { histogram.record(.nanoseconds(value)) }
        return histogram.snapshot
    }

    @Test("An empty distribution has no value and no mean")
    func empty() {
        #expect(LatencyDistribution().value(at: 0.5) == nil)
        #expect(LatencyDistribution().mean == nil)
        #expect(LatencyDistribution().count == 0)
    }

    @Test(
        "Shares outside of 0 to 1 count as the nearest, and NaN has no value",
        arguments: [(-3, 1), (0, 1), (-.infinity, 1), (1, 7), (9e99, 7), (.infinity, 7), (.nan, nil)]
            as [(Double, Int64?)])
    func oddShares(share: Double, nanoseconds: Int64?) {
        #expect(distribution([1, 3, 7]).value(at: share) == nanoseconds.map { .nanoseconds($0) })
    }

    @Test("A share that is a whole number of durations does not include the next", arguments: 1...100)
    func wholeRanks(rank: Int) {
        // A hundred durations, of which the first ones are short.
        let values = Array(repeating: Int64(1), count: rank) + Array(repeating: 5, count: 100 - rank)
        #expect(distribution(values).value(at: Double(rank) / 100) == .nanoseconds(1))
    }

    @Test("The mean is exact")
    func mean() {
        #expect(distribution([1_000_003, 2_000_001, 3_000_002]).mean == .nanoseconds(2_000_002))
    }

    @Test("Two distributions merged are the distribution of all durations")
    func merging() {
        let (left, right): ([Int64], [Int64]) = ([1, 5, 900, 900, 70_000], [0, 5, 950, 1_000_000, 3, 3])
        #expect(distribution(left) + distribution(right) == distribution(left + right))
        #expect(distribution(left) + LatencyDistribution() == distribution(left))
        #expect(LatencyDistribution() + distribution(left) == distribution(left))
    }

    @Test("Distributions with durations beyond the last bucket keep them all when merged")
    func mergingBeyondTheRange() {
        let sum = distribution([5_000_000_000_000]) + distribution([9_000_000_000_000, 1])
        #expect(sum.count == 3)
        #expect(sum.value(at: 1) == .nanoseconds(9_000_000_000_000))
    }

    @Test("The counts since a snapshot are the difference of the buckets")
    func since() {
        let histogram = LatencyHistogram()
        for value: Int64 in [10, 10, 500] { histogram.record(.nanoseconds(value)) }
        let earlier = histogram.snapshot
        for value: Int64 in [1, 10, 500, 500, 90_000] { histogram.record(.nanoseconds(value)) }
        #expect(histogram.snapshot.buckets(since: earlier) == distribution([1, 10, 500, 500, 90_000]).buckets)
        #expect(histogram.snapshot.buckets(since: histogram.snapshot).isEmpty)
    }
}

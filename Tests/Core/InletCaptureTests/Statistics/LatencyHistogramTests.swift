import InletCore
import Testing

@testable import InletCapture

/// The histogram against the sorted durations, and against fixed numbers.
@Suite struct LatencyHistogramTests {
    /// Spread evenly over the powers of two, from a nanosecond to 20 minutes.
    private func randomDurations(_ count: Int, seed: Int) -> [Int64] {
        var state = UInt64(truncatingIfNeeded: seed) &+ 0x9E37_79B9_7F4A_7C15
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let power: UInt64 = 1 << ((state >> 33) % 40)
            return Int64(power | ((state >> 20) & (power - 1)))
        }
    }

    @Test("Percentiles are those of the sorted durations (nearest rank), and at most 12.5 % greater", arguments: 1...10)
    func percentiles(seed: Int) throws {
        let histogram = LatencyHistogram()
        let durations = randomDurations(5000, seed: seed)
        for nanoseconds in durations { histogram.record(.nanoseconds(nanoseconds)) }
        let distribution = histogram.snapshot
        #expect(distribution.count == 5000)
        let sorted = durations.sorted()
        // In tenths of a percent; each tenth is five durations.
        for share in [1, 10, 100, 250, 500, 750, 900, 950, 990, 999, 1000] {
            let ours = try #require(distribution.value(at: Double(share) / 1000)).wholeNanoseconds
            let exact = sorted[share * 5 - 1]
            #expect(ours >= exact && ours <= exact + exact / 8, "p\(Double(share) / 10): \(ours), not \(exact)")
        }
        #expect(distribution.maximum == .nanoseconds(sorted.last ?? 0))
        #expect(distribution.total == .nanoseconds(durations.reduce(0, +)))
        #expect(distribution.mean == .nanoseconds(durations.reduce(0, +) / 5000))
    }

    @Test("Every bucket begins one above the end of the bucket before, and ends with its upper bound")
    func bucketsAreSeamless() {
        for index in 0..<LatencyDistribution.bucketCount - 1 {
            let upper = LatencyDistribution.Bucket.upperBound(of: index)
            #expect(LatencyDistribution.Bucket.index(of: upper) == index)
            #expect(LatencyDistribution.Bucket.index(of: upper + 1) == index + 1)
        }
        #expect(LatencyDistribution.Bucket.index(of: 1 << 42 - 1) == LatencyDistribution.bucketCount - 1)
        #expect(LatencyDistribution.Bucket.index(of: .max) == LatencyDistribution.bucketCount - 1)
    }

    @Test("The shortest and the longest possible durations have a bucket")
    func extremes() {
        let histogram = LatencyHistogram()
        histogram.record(.seconds(-5))
        histogram.record(from: MonotonicTime(nanoseconds: 5), to: MonotonicTime(nanoseconds: 5))
        #expect(histogram.snapshot.value(at: 1) == .zero)
        histogram.record(.seconds(10 * 3600))
        #expect(histogram.snapshot.value(at: 1) == .seconds(10 * 3600))
        histogram.record(from: MonotonicTime(nanoseconds: .min), to: .distantFuture)
        #expect(histogram.snapshot.maximum == .nanoseconds(Int64.max))
        histogram.record(from: .distantFuture, to: MonotonicTime(nanoseconds: .min))
        #expect(histogram.snapshot.count == 5)
    }

    @Test("Threads that count at once lose nothing")
    func concurrent() async {
        let histogram = LatencyHistogram()
        await withTaskGroup { group in
            for task in 0..<4 as Range<Int64> {
                group.addTask {
                    for index in 0..<10_000 { histogram.record(.nanoseconds(task * 1000 + Int64(index % 7))) }
                }
            }
        }
        #expect(histogram.snapshot.count == 40_000)
    }
}

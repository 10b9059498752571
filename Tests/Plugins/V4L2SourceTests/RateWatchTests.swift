import InletCore
import Testing

@testable import V4L2Source

@Suite struct RateWatchTests {
    /// The log for frames at an interval of this many milliseconds.
    private static func said(_ watch: inout RateWatch, every milliseconds: Int64, count: Int64, from start: Int64)
        -> [Double]
    {
        (0..<count).compactMap {
            watch.note(at: MonotonicTime(nanoseconds: (start + $0 * milliseconds) * 1_000_000), lost: 0)
        }
    }

    @Test("A rate that has halved is logged once, with the rate, and again after it was right")
    func halved() {
        var watch = RateWatch(expected: Rational(30))
        #expect(Self.said(&watch, every: 33, count: 300, from: 0) == [])
        let slow = Self.said(&watch, every: 66, count: 300, from: 10_000)
        #expect(slow.count == 1)
        #expect(slow.allSatisfy { (14...22).contains($0) })
        #expect(Self.said(&watch, every: 33, count: 300, from: 40_000) == [])
        #expect(Self.said(&watch, every: 66, count: 300, from: 60_000).count == 1)
    }

    @Test("Frames that were lost before they could be taken do not make a camera slow")
    func lost() {
        var watch = RateWatch(expected: Rational(30))
        let said = (0..<300).compactMap { watch.note(at: MonotonicTime(nanoseconds: $0 * 100_000_000), lost: 2) }
        #expect(said == [])
    }

    @Test("Without an expected rate nothing is logged")
    func unknown() {
        var watch = RateWatch(expected: nil)
        #expect(Self.said(&watch, every: 1000, count: 100, from: 0) == [])
    }
}

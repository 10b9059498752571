import InletCore
import Testing

@testable import InletCapture

@Suite struct RateLimiterTests {
    @Test("Frames are thinned out evenly to the rate", arguments: [(30, 10), (30, 25), (60, 30), (25, 30), (30, 1)])
    func evenly(from: Int, to rate: Int) {
        var limiter = RateLimiter(maximumFrameRate: Rational(rate))
        let frames = from * 20
        let taken = (0..<frames).filter {
            limiter.admits(MonotonicTime(nanoseconds: Int64($0) * 1_000_000_000 / Int64(from)))
        }
        #expect(abs(taken.count - min(from, rate) * 20) <= 1)
        let gaps = zip(taken, taken.dropFirst()).map { $1 - $0 }
        #expect((gaps.max() ?? 0) - (gaps.min() ?? 0) <= 1)
    }

    @Test("Jitter of a tenth of an interval does not change how many are taken")
    func jitter() {
        var limiter = RateLimiter(maximumFrameRate: Rational(30))
        let taken = (0..<1200 as Range<Int64>).count { index in
            let jitter: Int64 = index % 3 == 0 ? 1_600_000 : index % 3 == 1 ? -1_600_000 : 0
            return limiter.admits(MonotonicTime(nanoseconds: 1_000_000_000 + index * 16_666_667 + jitter))
        }
        #expect(abs(taken - 600) <= 2)
    }
}

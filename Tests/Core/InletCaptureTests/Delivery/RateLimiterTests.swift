import InletCore
import Testing

@testable import InletCapture

@Suite struct RateLimiterTests {
    /// A way to thin out frames, and the jitter of their times.
    struct Thinning: Sendable, CustomTestStringConvertible {
        var source: Rational
        var limit: Rational
        var jitter: Duration = .zero
        /// The rate that the source states.
        var stated: Rational?

        init(_ source: Rational, _ limit: Rational, jitter: Duration = .zero, stated: Rational? = nil) {
            self.source = source
            self.limit = limit
            self.jitter = jitter
            self.stated = stated ?? source
        }

        init(_ source: Int, _ limit: Int, jitter: Duration = .zero) {
            self.init(Rational(source), Rational(limit), jitter: jitter)
        }

        var testDescription: String { "\(source) to \(limit), \(jitter) of jitter" }
    }

    /// Times of frames, each off its place by up to the jitter in either direction, the same for the same seed.
    private func times(_ rate: Rational, seconds: Int, jitter: Duration = .zero, from start: Int64 = 0, seed: UInt64)
        -> [MonotonicTime]
    {
        var state = seed
        let most = jitter.wholeNanoseconds
        return (0..<Int64(Double(seconds) * rate.doubleValue)).map { index in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let offset = most == 0 ? 0 : Int64(state >> 33) % (2 * most + 1) - most
            let place = MediaTime(ticks: index, timeBase: rate.reciprocal ?? Rational(1)).nanoseconds
            return MonotonicTime(nanoseconds: 1_000_000_000 + start + place + offset)
        }
    }

    /// The distances of the accepted frames, and how often each occurs.
    private func gaps(_ taken: [Int]) -> [Int: Int] {
        zip(taken, taken.dropFirst()).reduce(into: [:]) { $0[$1.1 - $1.0, default: 0] += 1 }
    }

    @Test(
        "Accepted frames are apart by the two whole numbers next to the ratio of the rates, and by no others",
        arguments: [
            Thinning(60, 30), Thinning(60, 30, jitter: .milliseconds(4)),
            // A camera whose clock is 0.3 % off drifts across the wanted times again and again.
            Thinning(Rational(6018, 100), Rational(30), jitter: .milliseconds(4), stated: Rational(60)),
            Thinning(Rational(5982, 100), Rational(30), jitter: .milliseconds(4), stated: Rational(60)),
            Thinning(30, 1), Thinning(30, 1, jitter: .milliseconds(8)), Thinning(30, 10), Thinning(30, 25),
            Thinning(30, 25, jitter: .milliseconds(2)), Thinning(30, 12, jitter: .milliseconds(4)),
            Thinning(Rational(30), Rational(30000, 1001)),
            Thinning(Rational(30), Rational(30000, 1001), jitter: .milliseconds(4)),
            Thinning(Rational(60000, 1001), Rational(24000, 1001)),
            Thinning(Rational(60000, 1001), Rational(24000, 1001), jitter: .milliseconds(4)),
        ])
    func evenly(_ thinning: Thinning) {
        let ratio = thinning.source.doubleValue / thinning.limit.doubleValue
        let whole = Int(ratio.rounded(.down))
        for seed in 1...5 as ClosedRange<UInt64> {
            var limiter = RateLimiter(maximumFrameRate: thinning.limit, sourceFrameRate: thinning.stated)
            let times = times(thinning.source, seconds: 100, jitter: thinning.jitter, seed: seed)
            let taken = times.indices.filter { limiter.admits(times[$0]) }
            let gaps = gaps(taken)
            // A ratio slightly below a whole number gives that number, with a shorter gap occasionally.
            let allowed: Set = [whole, whole + 1, ratio - Double(whole) < 0.01 ? whole : whole + 1]
            #expect(Set(gaps.keys).isSubset(of: allowed), "\(gaps)")
            #expect(abs(Double(taken.count) - 100 * thinning.limit.doubleValue) <= 2)
        }
    }

    @Test(
        "A source that is no faster than the limit loses nothing, whatever its jitter",
        arguments: [(25, .zero), (25, .milliseconds(10)), (30, .zero), (30, .milliseconds(8)), (1, .milliseconds(300))]
            as [(Int, Duration)])
    func allPass(rate: Int, jitter: Duration) {
        var limiter = RateLimiter(maximumFrameRate: Rational(30), sourceFrameRate: Rational(rate))
        let times = times(Rational(rate), seconds: 100, jitter: jitter, seed: 7)
        #expect(times.count { limiter.admits($0) } == times.count)
    }

    @Test(
        "The rhythm of a source without a rate, or with a wrong one, is found within three seconds",
        arguments: [nil, 30, 120])
    func unknownRate(_ stated: Int?) {
        for seed in 1...5 as ClosedRange<UInt64> {
            var limiter = RateLimiter(maximumFrameRate: Rational(30), sourceFrameRate: stated.map { Rational($0) })
            let times = times(Rational(60), seconds: 60, jitter: .milliseconds(4), seed: seed)
            let taken = times.indices.filter { limiter.admits(times[$0]) }
            #expect(gaps(taken.filter { $0 > 180 }).keys.sorted() == [2])
            // Until then the rhythm may be uneven, but accepts neither far too many nor far too few frames.
            #expect((80...100).contains(taken.count { $0 <= 180 }))
        }
    }

    @Test("After a gap the spacing restarts: no two frames follow each other too closely", arguments: [1, 12, 30])
    func gap(rate: Int) {
        // 40 minutes in between, or a part of an interval more than a whole number of intervals.
        for pause in [2_400_000_000_000, 700_000_000, 1_250_000_000 / Int64(rate)] {
            var limiter = RateLimiter(maximumFrameRate: Rational(rate), sourceFrameRate: Rational(60))
            var all = times(Rational(60), seconds: 10, seed: 1)
            all += times(Rational(60), seconds: 10, from: 10_000_000_000 + pause, seed: 1)
            let taken = all.filter { limiter.admits($0) }
            let shortest = zip(taken, taken.dropFirst()).map { $1 - $0 }.min() ?? .zero
            #expect(shortest > .nanoseconds(1_000_000_000 / Int64(rate)) - .milliseconds(9))
            // At most one frame is missed, at the gap.
            #expect(taken.count { $0 < all[600] } == 10 * rate)
            #expect((10 * rate - 1...10 * rate).contains(taken.count { $0 >= all[600] }))
        }
    }

    @Test("A frame that the source lost costs one longer gap and no shorter one")
    func lostFrames() {
        var limiter = RateLimiter(maximumFrameRate: Rational(30), sourceFrameRate: Rational(60))
        let times = times(Rational(60), seconds: 100, seed: 1)
        // Every 101st frame is lost: sometimes one that would have been accepted, sometimes one that would not.
        let taken = times.indices.filter { $0 % 101 != 100 && limiter.admits(times[$0]) }
        let gaps = gaps(taken)
        #expect(Set(gaps.keys) == [2, 3])
        #expect((gaps[3] ?? 0) <= 60)
    }

    @Test("A source that changes its rate is followed", arguments: [(60, 30), (30, 60), (50, 25), (24, 60)])
    func changingRate(before: Int, after: Int) {
        var limiter = RateLimiter(maximumFrameRate: Rational(12), sourceFrameRate: Rational(before))
        let first = times(Rational(before), seconds: 20, jitter: .milliseconds(2), seed: 3)
        let second = times(
            Rational(after), seconds: 20, jitter: .milliseconds(2), from: 20_000_000_000, seed: 4)
        let taken = (first + second).filter { limiter.admits($0) }
        #expect(abs(taken.count - 480) <= 3)
        let period = 1000 / after
        // All except the two seconds after the change.
        let settled = taken.filter { $0 > second[2 * after] }
        let spacings = zip(settled, settled.dropFirst()).map { $1 - $0 }
        #expect(spacings.allSatisfy { abs($0 / .milliseconds(1) - 83.3) <= Double(period) + 4 })
    }

    @Test("Frames at irregular times, as from a screen, do not exceed the rate for long")
    func irregular() {
        var limiter = RateLimiter(maximumFrameRate: Rational(10))
        var state: UInt64 = 5
        var now: Int64 = 0
        var times: [MonotonicTime] = []
        for _ in 0..<5000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            // Mostly 1 to 40 ms, sometimes up to 2.5 s.
            now += Int64(state >> 20) % (state >> 60 == 0 ? 2_500_000_000 : 40_000_000) + 1_000_000
            times.append(MonotonicTime(nanoseconds: now))
        }
        let taken = times.filter { limiter.admits($0) }
        for (index, time) in taken.enumerated().dropFirst(20) {
            #expect(time - taken[index - 20] > .milliseconds(1800))
        }
        // If about a tenth of a second or more has passed since the last accepted frame, the next is accepted.
        let late = times.indices.dropFirst().filter { index in
            !taken.contains(times[index])
                && taken.last { $0 < times[index] }.map { times[index] - $0 > .milliseconds(200) } ?? true
        }
        #expect(late.isEmpty)
    }

    @Test(
        "Impossible rates do no harm",
        arguments: [Rational(1, .max), Rational(.max), Rational(1, 1_000_000_000)])
    func extremeRates(rate: Rational) {
        var limiter = RateLimiter(maximumFrameRate: rate, sourceFrameRate: rate)
        let times = times(Rational(30), seconds: 10, seed: 1)
        let taken = times.count { limiter.admits($0) }
        #expect(taken == (rate < Rational(1) ? 1 : times.count))
    }
}

import InletCore
import Testing

@testable import InletCapture

/// Properties that hold for any source timestamps.
@Suite struct FrameClockPropertyTests {
    private static let timeBases = [
        Rational(1, 90_000), Rational(1, 1000), Rational(1001, 30_000), Rational(1, 48_000), Rational(1, 1_000_000_000),
        Rational(1), Rational(0), Rational(-1, 25), Rational(.max, 3), Rational(1, .max), Rational(.max - 1, .max),
    ]

    /// The next PTS of a source with wrong times: mostly a small step, occasionally anything.
    private func ticks(after ticks: Int64, _ numbers: inout SplitMix64) -> Int64? {
        switch Int.random(in: 0..<20, using: &numbers) {
        case 0: nil
        case 1: ticks
        case 2: ticks &- 3000
        case 3: ticks &- Int64.random(in: 0..<900_000, using: &numbers)
        case 4: ticks &+ Int64.random(in: 0..<900_000, using: &numbers)
        case 5: ticks &- (1 << 33)
        case 6: ticks &- (1 << 32)
        case 7: ticks &+ (1 << 32)
        case 8: Int64.random(in: .min ... .max, using: &numbers)
        case 9: [Int64.min, .max, 0, -1].randomElement(using: &numbers)
        default: ticks &+ 3000
        }
    }

    @Test(
        "1000 seeds of nonsense: strictly increasing, and paced frames never later than now",
        arguments: SourcePacing.allCases)
    func nonsense(pacing: SourcePacing) {
        for seed in 0..<1000 as Range<UInt64> {
            var numbers = SplitMix64(seed: seed)
            let bits = [nil, nil, 32, 33, 0, -1, 64, 8].randomElement(using: &numbers) ?? nil
            var clock = FrameClock(pacing: pacing, timestampBits: bits)
            var (now, ticks) = (Int64.random(in: 0..<(1 << 56), using: &numbers), Int64(0))
            var timeBase = Self.timeBases[0]
            var last = Int64.min
            for index in 0..<60 {
                // Time passes between any two frames.
                now +=
                    [1, 1000, 33_000_000, 33_000_000, 5_000_000_000, 100_000_000_000_000].randomElement(using: &numbers)
                    ?? 1
                if Int.random(in: 0..<40, using: &numbers) == 0 {
                    timeBase = Self.timeBases.randomElement(using: &numbers) ?? timeBase
                }
                if Int.random(in: 0..<60, using: &numbers) == 0 { clock.reconnect(pacing: pacing, timestampBits: bits) }
                let next = self.ticks(after: ticks, &numbers)
                ticks = next ?? ticks
                let stamp = clock.stamp(
                    pts: next.map { MediaTime(ticks: $0, timeBase: timeBase) },
                    arrival: MonotonicTime(nanoseconds: now),
                    startsAnew: Int.random(in: 0..<50, using: &numbers) == 0,
                    wallClock: Int.random(in: 0..<30, using: &numbers) == 0
                        ? Int64.random(in: .min ... .max, using: &numbers) : nil)
                let time = stamp.time.nanoseconds
                guard time > last, pacing == .unpaced || time <= now else {
                    Issue.record("seed \(seed), frame \(index): \(time) after \(last) at \(now)")
                    return
                }
                last = time
            }
        }
    }

    @Test("1000 seeds of a faulty camera: once it recovers, it is timestamped well within five seconds")
    func recovery() {
        for seed in 0..<1000 as Range<UInt64> {
            var numbers = SplitMix64(seed: seed)
            var clock = FrameClock(pacing: .live)
            var (now, ticks) = (Int64(1_000_000_000), Int64(0))
            for _ in 0..<40 {
                now += [1000, 33_000_000, 5_000_000_000].randomElement(using: &numbers) ?? 1
                let next = self.ticks(after: ticks, &numbers)
                ticks = next ?? ticks
                _ = clock.stamp(
                    pts: next.map { MediaTime(ticks: $0, timeBase: Rational(1, 90_000)) },
                    arrival: MonotonicTime(nanoseconds: now), startsAnew: false)
            }
            ticks = Int64.random(in: 0..<(1 << 40), using: &numbers)
            var last: Int64?
            for index in 0..<200 {
                (now, ticks) = (now + 33_333_333, ticks + 3000)
                let stamp = clock.stamp(
                    pts: MediaTime(ticks: ticks, timeBase: Rational(1, 90_000)),
                    arrival: MonotonicTime(nanoseconds: now),
                    startsAnew: false)
                let time = stamp.time.nanoseconds
                if index > 150, let last {
                    // Within the clock's largest slew of the true spacing, and with less than a quarter second of
                    // delay.
                    guard stamp.basis == .pts, abs(time - last - 33_333_333) < 200_000, now - time < 260_000_000 else {
                        Issue.record(
                            "seed \(seed), frame \(index): \(time - last) ns, delay \(now - time) ns, \(stamp.basis)")
                        return
                    }
                }
                last = time
            }
        }
    }
}

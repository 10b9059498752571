import InletCore
import InletTesting
import Testing

@testable import InletCapture

@Suite struct FrameClockTests {
    /// A frame clock and the machine's clock, which the test advances.
    private struct Bench {
        var clock: FrameClock
        let machine = ManualClock()
        private(set) var stamps: [FrameClock.Stamp] = []

        init(_ pacing: SourcePacing, timestampBits: Int? = nil) {
            clock = FrameClock(pacing: pacing, timestampBits: timestampBits)
        }

        /// Adds a frame that arrives some milliseconds after the previous one.
        @discardableResult
        mutating func frame(
            _ ticks: Int64?, after milliseconds: Double = 100.0 / 3, timeBase: Rational = Rational(1, 90_000),
            startsAnew: Bool = false, wallClock: Int64? = nil
        ) -> FrameClock.Stamp {
            machine.advance(by: .nanoseconds(Int64(milliseconds * 1e6)))
            let stamp = clock.stamp(
                pts: ticks.map { MediaTime(ticks: $0, timeBase: timeBase) }, arrival: machine.now,
                startsAnew: startsAnew, wallClock: wallClock)
            stamps.append(stamp)
            return stamp
        }

        /// Frames at 30 a second, by the PTS and by the machine.
        mutating func frames(_ count: Int, from ticks: Int64 = 0, after milliseconds: Double = 100.0 / 3) {
            for index in 0..<count { frame(ticks + Int64(index) * 3000, after: milliseconds) }
        }

        /// The distances between consecutive timestamps, in milliseconds.
        var spacings: [Double] {
            zip(stamps, stamps.dropFirst()).map { Double(($1.time - $0.time).wholeNanoseconds) / 1e6 }
        }

        /// The age of the last frame's timestamp, in milliseconds.
        var delay: Double { Double((machine.now - (stamps.last?.time ?? machine.now)).wholeNanoseconds) / 1e6 }

        var withoutPTS: Int { stamps.count { $0.basis == .arrival } }
    }

    private static let interval = 100.0 / 3

    private func isNear(_ value: Double, _ other: Double, within tolerance: Double = 0.2) -> Bool {
        abs(value - other) <= tolerance
    }

    @Test("An unpaced source keeps the spacing of its PTS to the nanosecond, however fast it is read")
    func spacing() {
        for milliseconds in [0.0, 1, 500] {
            var bench = Bench(.unpaced)
            for ticks in [0, 3000, 7500, 9000, 9000 + 90_000 * 3600] as [Int64] {
                bench.frame(ticks + 900_000, after: milliseconds)
            }
            let first = bench.stamps[0].time
            #expect(
                bench.stamps.map { ($0.time - first).wholeNanoseconds }
                    == [0, 33_333_333, 83_333_333, 100_000_000, 3_600_100_000_000])
        }
    }

    @Test("A source may continue in another time base")
    func timeBases() {
        var bench = Bench(.unpaced)
        bench.frame(0, timeBase: Rational(1))
        bench.frame(3003, timeBase: Rational(1, 90_000))
        bench.frame(66_733_333, timeBase: Rational(1, 1_000_000_000))
        bench.frame(100_100, timeBase: Rational(1, 1_000_000))
        bench.frame(1, timeBase: Rational(1))
        let first = bench.stamps[0].time
        #expect(
            bench.stamps.map { ($0.time - first).wholeNanoseconds }
                == [0, 33_366_666, 66_733_333, 100_100_000, 1_000_000_000])
    }

    @Test(
        "Timestamps rise strictly over repeats, backward steps, jumps and missing PTS", arguments: SourcePacing.allCases
    )
    func strictlyIncreasing(_ pacing: SourcePacing) {
        var bench = Bench(pacing)
        for ticks in [0, 3000, 3000, 1500, 90_000_000_000, 90_000_003_000, 0, nil, 3000, nil] as [Int64?] {
            bench.frame(ticks)
        }
        #expect(bench.spacings.allSatisfy { $0 > 0 })
    }

    @Test("A live frame's timestamp is never after its arrival, and a clock 1 % fast does not squeeze the frames")
    func neverInTheFuture() {
        var bench = Bench(.live)
        for index in 0..<1000 as Range<Int64> {
            bench.frame(index * 3000, after: 33)
            #expect(bench.delay >= 0)
        }
        #expect(bench.delay < 1)
        #expect(bench.spacings.allSatisfy { isNear($0, 33, within: 0.5) })
    }

    @Test("A camera 17 % slow, as when it halves its PTS in dim light, is followed with a bounded delay")
    func slowSource() {
        var bench = Bench(.live)
        var longest = 0.0
        for index in 0..<9000 as Range<Int64> {
            bench.frame(index * 2500)
            longest = max(longest, bench.delay)
        }
        #expect(longest < 2000)
        #expect(bench.spacings.allSatisfy { $0 > 10 })
    }

    static let wraps: [(bits: Int?, timeBase: Rational, end: Int64, step: Int64)] = [
        (33, Rational(1, 90_000), 1 << 33, 3000), (nil, Rational(1, 90_000), 1 << 33, 3000),
        (32, Rational(1, 90_000), 1 << 32, 3000), (nil, Rational(1, 90_000), 1 << 32, 3000),
        // Signed, as some libraries count.
        (nil, Rational(1, 90_000), 1 << 31, 3000), (32, Rational(1, 44_100), 1 << 31, 1470),
        (nil, Rational(1, 48_000), 1 << 32, 1600), (nil, Rational(1, 1000), 1 << 32, 33),
        // 33 bits of 1/90000 s, converted to milliseconds by some sender.
        (nil, Rational(1, 1000), 95_443_718, 33), (24, Rational(1, 1000), 1 << 24, 33),
    ]

    @Test(
        "The end of the counter shows in no timestamp, even with frames out of order around it", arguments: wraps,
        [true, false])
    func wrap(_ wrap: (bits: Int?, timeBase: Rational, end: Int64, step: Int64), isReordered: Bool) {
        let length: Int64 = wrap.end == 1 << 31 ? 1 << 32 : wrap.end
        for pacing in [SourcePacing.live, .unpaced] {
            var bench = Bench(pacing, timestampBits: wrap.bits)
            // A wrap need not be a whole number of ticks.
            let tick = wrap.timeBase.doubleValue * 1001
            let interval = Double(wrap.step) * wrap.timeBase.doubleValue * 1000
            // The frames before and after the end are swapped: the later one arrives first.
            var order = Array(0..<40 as Range<Int64>)
            if isReordered { order.swapAt(10, 11) }
            for index in order {
                let ticks = wrap.end - wrap.step * 10 - wrap.step / 2 + index * wrap.step
                bench.frame(ticks < wrap.end ? ticks : ticks - length, after: interval, timeBase: wrap.timeBase)
            }
            let first = bench.stamps[0].time
            for (index, stamp) in zip(order, bench.stamps) where index != 10 {
                let time = Double((stamp.time - first).wholeNanoseconds) / 1e6
                // A live frame that arrives early pulls the others along.
                #expect(
                    isNear(
                        time, Double(index) * interval,
                        within: pacing == .live && isReordered ? interval + 1 : max(0.1, tick)))
            }
            #expect(bench.withoutPTS == (isReordered ? 1 : 0))
        }
    }

    @Test(
        "A step back without a flag is followed within three frames, never by steps of a nanosecond",
        arguments: SourcePacing.allCases, [0.1, 1, 5, 9.9, 10, 60, 100_000])
    func backward(_ pacing: SourcePacing, seconds: Double) {
        var bench = Bench(pacing)
        let start: Int64 = 90_000 * 200_000
        bench.frames(300, from: start)
        bench.frames(300, from: start + 300 * 3000 - Int64(seconds * 90_000))
        #expect(bench.spacings.allSatisfy { $0 > 10 && $0 < 70 })
        #expect(bench.spacings.suffix(290).allSatisfy { isNear($0, Self.interval) })
        #expect(bench.withoutPTS == 2)
    }

    @Test(
        "A frame with a wrong PTS is timestamped between its neighbours, which keep their places",
        arguments: SourcePacing.allCases,
        [.min, -1, 0, 100 * 3000 - 4500, 99 * 3000, 9_000_000_000_000, .max] as [Int64])
    func oneWrong(_ pacing: SourcePacing, ticks: Int64) {
        var (bench, other) = (Bench(pacing), Bench(pacing))
        for index in 0..<200 as Range<Int64> {
            let stamp = bench.frame(index == 100 ? ticks : index * 3000)
            #expect((stamp.basis == .arrival) == (index == 100))
            other.frame(index * 3000)
        }
        #expect(
            zip(bench.stamps, other.stamps).enumerated().allSatisfy { $0.offset == 100 || $0.element.0 == $0.element.1 }
        )
        #expect(bench.spacings[99] > 10 && bench.spacings[100] > 10)
    }

    @Test("A live PTS that leaps ahead is followed within three frames", arguments: [0.3, 5, 60, 100_000])
    func forward(seconds: Double) {
        var bench = Bench(.live)
        bench.frames(300)
        bench.frames(300, from: 300 * 3000 + Int64(seconds * 90_000))
        #expect(bench.spacings.allSatisfy { $0 > 10 && $0 < 70 })
        #expect(bench.delay < 1)
    }

    @Test("A PTS that does not advance is replaced by the arrival, and is used again when it moves")
    func stuck() {
        var bench = Bench(.live)
        bench.frames(100)
        for _ in 0..<300 { bench.frame(99 * 3000) }
        #expect(bench.spacings.suffix(290).allSatisfy { isNear($0, Self.interval) })
        #expect(bench.stamps.suffix(300).allSatisfy { $0.basis == .arrival })
        bench.frames(300, from: 100 * 3000)
        #expect(bench.stamps.suffix(300).allSatisfy { $0.basis == .pts })
        #expect(bench.spacings.suffix(300).allSatisfy { $0 > 10 })
        #expect(bench.delay < 50)
    }

    @Test("Without any PTS a live frame has the time of its arrival, and is marked so")
    func withoutPTS() {
        var bench = Bench(.live)
        for _ in 0..<10 {
            #expect(bench.frame(nil).basis == .arrival)
            #expect(bench.delay == 0)
        }
    }

    @Test("Every other PTS missing: the frames between lie in the middle", arguments: SourcePacing.allCases)
    func everyOther(_ pacing: SourcePacing) {
        var bench = Bench(pacing)
        for index in 0..<200 as Range<Int64> { bench.frame(index.isMultiple(of: 2) ? index * 3000 : nil) }
        #expect(bench.spacings.dropFirst(2).allSatisfy { isNear($0, Self.interval) })
        #expect(bench.withoutPTS == 100)
    }
}

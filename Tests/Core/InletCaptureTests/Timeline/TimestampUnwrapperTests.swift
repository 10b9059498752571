import InletCore
import Testing

@testable import InletCapture

@Suite struct TimestampUnwrapperTests {
    @Test(
        "Ticks become nanoseconds rounded down, as with MediaTime",
        arguments: [
            Rational(1, 90_000), Rational(1001, 30_000), Rational(1, 44_100), Rational(7), Rational(1, 3_000_000_000),
        ])
    func scale(_ timeBase: Rational) throws {
        let scale = try #require(TickScale(timeBase))
        for ticks in [0, 1, -1, 2999, -2999, 1 << 33, -(1 << 33), 1 << 50, -(1 << 50)] as [Int64] {
            let expected = MediaTime(ticks: ticks, timeBase: timeBase).nanoseconds
            let isWithin = expected.magnitude <= FrameClock.limit
            #expect(scale.nanoseconds(ticks) == (isWithin ? expected : nil))
        }
    }

    @Test(
        "An invalid time base has no scale, and no number of ticks traps",
        arguments: [
            Rational(0), Rational(-1, 25), Rational(.max), Rational(.max, 2), Rational(1, .max),
            Rational(.max - 1, .max),
            Rational(1, 1_000_000_000),
        ])
    func extremes(_ timeBase: Rational) {
        guard let scale = TickScale(timeBase) else {
            #expect(timeBase.numerator <= 0 || timeBase.numerator > 1_000_000_000)
            return
        }
        for ticks in [Int64.min, .min + 1, -1, 0, 1, .max] {
            #expect((scale.nanoseconds(ticks) ?? 0).magnitude <= FrameClock.limit)
        }
    }

    private func read(
        _ timeline: inout TimestampUnwrapper, ticks: Int64, _ timeBase: Rational
    ) throws -> TimestampUnwrapper.Reading {
        let reading = timeline.read(MediaTime(ticks: ticks, timeBase: timeBase))
        return try #require(reading)
    }

    @Test("Reading moves nothing; taking moves the reference")
    func reference() throws {
        let timeBase = Rational(1, 1000)
        var timeline = try #require(TimestampUnwrapper(startingAt: MediaTime(ticks: 5, timeBase: timeBase), bits: nil))
        let far = try read(&timeline, ticks: 7005, timeBase)
        #expect(far.position == 7_000_000_000)
        #expect(timeline.position == 0)
        timeline.take(far)
        #expect(timeline.position == 7_000_000_000)
    }

    @Test("A known width takes the shorter way round, also for PTS beyond it")
    func width() throws {
        let timeBase = Rational(1, 90_000)
        let start = MediaTime(ticks: (1 << 33) - 90_000, timeBase: timeBase)
        var timeline = try #require(TimestampUnwrapper(startingAt: start, bits: 33))
        for ticks in [90_000, (1 << 33) + 90_000, 90_000 - (1 << 33), (5 << 33) + 90_000] as [Int64] {
            let reading = try read(&timeline, ticks: ticks, timeBase)
            #expect(reading.position == 2_000_000_000)
        }
    }

    @Test("With an unknown width, only a step back by about a whole counter is a wrap")
    func guess() throws {
        let timeBase = Rational(1, 90_000)
        let start = MediaTime(ticks: (1 << 33) - 90_000, timeBase: timeBase)
        var timeline = try #require(TimestampUnwrapper(startingAt: start, bits: nil))
        let wrapped = try read(&timeline, ticks: 90_000, timeBase)
        #expect(wrapped.position == 2_000_000_000)
        let back = try read(&timeline, ticks: 90_000 * 60, timeBase)
        #expect(back.position < -80_000_000_000_000)
        let ahead = try read(&timeline, ticks: 2 << 33, timeBase)
        #expect(ahead.position > 90_000_000_000_000)
    }
}

import InletCore
import Testing

@testable import InletCapture

@Suite struct FrameClockTests {
    private let timeBase = Rational(1, 90_000)

    private func time(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    @Test("An unpaced source keeps the spacing of its PTS, however fast it is read")
    func spacing() {
        var clock = FrameClock(pacing: .unpaced)
        let stamps = [0, 3000, 7500, 9000].map {
            clock.stamp(pts: MediaTime(ticks: $0 + 900_000, timeBase: timeBase), arrival: time(5), startsAnew: false).time
        }
        #expect(stamps.map { ($0 - time(5)).wholeNanoseconds } == [0, 33_333_333, 83_333_333, 100_000_000])
    }

    @Test(
        "Timestamps rise strictly over repeats, backward steps, jumps and missing PTS", arguments: SourcePacing.allCases
    )
    func strictlyIncreasing(_ pacing: SourcePacing) {
        var clock = FrameClock(pacing: pacing)
        var last: MonotonicTime?
        for (index, ticks) in [0, 3000, 3000, 1500, 90_000_000_000, 90_000_003_000, 0, nil, 3000, nil].enumerated()
            as EnumeratedSequence<[Int64?]>
        {
            let stamp = clock.stamp(
                pts: ticks.map { MediaTime(ticks: $0, timeBase: timeBase) }, arrival: time(100 + Int64(index) * 33),
                startsAnew: false).time
            if let last { #expect(stamp > last) }
            last = stamp
        }
    }

    @Test("A live frame is never stamped later than it arrived")
    func neverInTheFuture() {
        var clock = FrameClock(pacing: .live)
        // The camera's clock runs 1 % fast.
        for index in 0..<1000 as Range<Int64> {
            let arrival = MonotonicTime(nanoseconds: 1_000_000_000 + index * 33_000_000)
            let pts = MediaTime(ticks: index * 3000, timeBase: timeBase)
            #expect(clock.stamp(pts: pts, arrival: arrival, startsAnew: false).time <= arrival)
        }
    }
}

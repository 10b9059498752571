import InletCore
import InletRTP
import Testing

/// Successive streams on one timeline.
@Suite struct JoinedTimelineTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    @Test("A stream continues where the last one was, by the time between the arrivals; the first is unchanged")
    func join() {
        var timeline = JoinedTimeline(timeBase: Rational(1, 90_000))
        timeline.beginStream()
        #expect(timeline.place(5000, arrival: Self.time(0)) == (5000, false))
        #expect(timeline.place(8000, arrival: Self.time(33)) == (8000, false))
        timeline.beginStream()
        // A second later: 90,000 ticks.
        #expect(timeline.place(-7, arrival: Self.time(1033)) == (98_000, true))
        #expect(timeline.place(2993, arrival: Self.time(1066)) == (101_000, false))
        timeline.beginStream()
        // Time never goes back or stands still, whatever the clock states.
        #expect(timeline.place(.max, arrival: Self.time(900)) == (101_001, true))
    }

    @Test("A picture out of order does not move the place where the next stream continues")
    func order() {
        var timeline = JoinedTimeline(timeBase: Rational(1, 1000))
        _ = timeline.place(100, arrival: Self.time(0))
        _ = timeline.place(60, arrival: Self.time(10))
        timeline.beginStream()
        #expect(timeline.place(0, arrival: Self.time(11)).ticks == 101)
    }
}

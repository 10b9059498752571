import InletCore
import Testing

@Suite struct MonotonicTimeTests {
    @Test("Adding and subtracting a duration are inverse")
    func arithmetic() {
        let time = MonotonicTime(nanoseconds: 1_000_000)
        #expect((time + .milliseconds(5)).nanoseconds == 6_000_000)
        #expect((time - .milliseconds(5)).nanoseconds == -4_000_000)
        #expect(time + .seconds(3) - .seconds(3) == time)
    }

    @Test("The difference of two times is exact, even over 64 bits")
    func difference() {
        let early = MonotonicTime(nanoseconds: .min)
        #expect(MonotonicTime(nanoseconds: 7) - MonotonicTime(nanoseconds: 10) == .nanoseconds(-3))
        #expect(MonotonicTime.distantFuture - early == .nanoseconds(Int64.max) - .nanoseconds(Int64.min))
        #expect(early - .distantFuture < .zero)
    }

    @Test("Arithmetic clamps to 64 bits")
    func clamps() {
        #expect(MonotonicTime.distantFuture + .nanoseconds(1) == .distantFuture)
        #expect(MonotonicTime(nanoseconds: 0) + .seconds(1 << 40) == .distantFuture)
        #expect(MonotonicTime(nanoseconds: .min) - .nanoseconds(1) == MonotonicTime(nanoseconds: .min))
        #expect(MonotonicTime(nanoseconds: 0) - .seconds(1 << 40) == MonotonicTime(nanoseconds: .min))
    }

    @Test("Times are ordered")
    func order() {
        #expect(MonotonicTime(nanoseconds: -1) < MonotonicTime(nanoseconds: 0))
        #expect(MonotonicTime(nanoseconds: 0) < .distantFuture)
    }

    @Test(
        "A duration in whole nanoseconds is rounded towards zero and clamped",
        arguments: [
            (Duration.seconds(2), 2_000_000_000),
            (Duration(secondsComponent: 0, attosecondsComponent: 1_999_999_999), 1),
            (Duration(secondsComponent: 0, attosecondsComponent: -1_999_999_999), -1),
            (Duration.nanoseconds(Int64.min), Int64.min),
            (Duration.nanoseconds(Int64.max), Int64.max),
            (Duration.nanoseconds(Int64.max) + .nanoseconds(1), Int64.max),
            (Duration.nanoseconds(Int64.min) - .nanoseconds(1), Int64.min),
            (Duration.seconds(Int64.max), Int64.max),
            (Duration.seconds(Int64.min), Int64.min),
        ] as [(Duration, Int64)])
    func wholeNanoseconds(duration: Duration, expected: Int64) {
        #expect(duration.wholeNanoseconds == expected)
    }
}

import InletCore
import Testing

@testable import V4L2Source

@Suite struct TimestampTrustTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    @Test(
        "A single time is trusted or doubted by its value",
        arguments: [
            (100_000, false, TimestampTrust.Doubt.none),
            (99_960, false, .none),
            (100_010, false, .none),
            (100_060, false, .future),
            (100_000, true, .absent),
            (0, false, .absent),
            (30_000, false, .unrelated),
            (300_000, false, .unrelated),
            (-5000, false, .unrelated),
        ] as [(Int64, Bool, TimestampTrust.Doubt)])
    func single(time: Int64, isCopied: Bool, doubt: TimestampTrust.Doubt) {
        var trust = TimestampTrust()
        #expect(trust.judge(Self.time(time), isCopied: isCopied, now: Self.time(100_000)) == doubt)
    }

    @Test("Times of another clock are unrelated, whatever their size")
    func otherClocks() {
        var trust = TimestampTrust()
        let now = Self.time(100_000)
        // The time of day, and a counter that wraps as vivid's does.
        #expect(trust.judge(MonotonicTime(nanoseconds: 1_750_000_000_000_000_000), now: now) == .unrelated)
        #expect(trust.judge(MonotonicTime(nanoseconds: .max - 5), now: now) == .unrelated)
        #expect(trust.judge(MonotonicTime(nanoseconds: .min + 5), now: now) == .unrelated)
    }

    @Test("A time that repeats or goes back is doubted, and the next good one is trusted")
    func backwards() {
        var trust = TimestampTrust()
        let times: [(Int64, TimestampTrust.Doubt)] = [
            (1000, .none), (1033, .none), (1033, .backwards), (1020, .backwards), (1066, .none), (1100, .none),
        ]
        for (time, doubt) in times {
            #expect(trust.judge(Self.time(time), now: Self.time(1200)) == doubt)
        }
    }

    @Test("A doubted time does not spoil those after it")
    func recovers() {
        var trust = TimestampTrust()
        #expect(trust.judge(Self.time(1000), now: Self.time(1001)) == .none)
        #expect(trust.judge(Self.time(9000), now: Self.time(1034)) == .future)
        #expect(trust.judge(Self.time(1066), now: Self.time(1067)) == .none)
    }
}

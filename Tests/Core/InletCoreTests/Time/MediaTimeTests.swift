import InletCore
import Testing

@Suite struct MediaTimeTests {
    static let mpeg = Rational(1, 90_000)
    static let milliseconds = Rational(1, 1000)

    @Test(
        "Rescaling is exact and rounds down, below zero too",
        arguments: [
            (3003, Rational(1, 90_000), Rational(1, 1000), 33),  // 33.366 ms
            (-3003, Rational(1, 90_000), Rational(1, 1000), -34),
            (90_000, Rational(1, 90_000), Rational(1, 1000), 1000),
            (-90_000, Rational(1, 90_000), Rational(1, 1000), -1000),
            (1, Rational(1001, 30_000), Rational(1, 90_000), 3003),
            (30_000, Rational(1001, 30_000), Rational(1), 1001),
            (-1, Rational(1, 3), Rational(1), -1),
            (1, Rational(1, 3), Rational(1), 0),
            (7, Rational(2), Rational(3), 4),
            (0, Rational(1, 7), Rational(1, 11), 0),
        ] as [(Int64, Rational, Rational, Int64)])
    func rescales(ticks: Int64, from: Rational, to: Rational, expected: Int64) {
        let time = MediaTime(ticks: ticks, timeBase: from).rescaled(to: to)
        #expect(time.ticks == expected)
        #expect(time.timeBase == to)
    }

    @Test("Rescaling clamps to 64 bits")
    func clamps() {
        let later = MediaTime(ticks: .max, timeBase: Rational(1000))
        #expect(later.rescaled(to: Self.milliseconds).ticks == .max)
        #expect(later.nanoseconds == .max)
        let earlier = MediaTime(ticks: .min, timeBase: Rational(1000))
        #expect(earlier.rescaled(to: Self.milliseconds).ticks == .min)
        #expect(earlier.nanoseconds == .min)
    }

    @Test("Rescaling is exact at the edge of 64 bits")
    func exactAtTheEdge() {
        let time = MediaTime(ticks: .max, timeBase: Rational(Int(Int32.max), Int(Int32.max) - 1))
        let back = time.rescaled(to: Rational(Int(Int32.max), Int(Int32.max) - 1))
        #expect(back.ticks == .max)
        // (2^63 - 1) / 3, a whole number less 1/3.
        #expect(
            MediaTime(ticks: .max, timeBase: Rational(1, 3)).rescaled(to: Rational(1)).ticks
                == 3_074_457_345_618_258_602)
        #expect(
            MediaTime(ticks: .min, timeBase: Rational(1, 3)).rescaled(to: Rational(1)).ticks
                == -3_074_457_345_618_258_603)
    }

    @Test("Rescaling to a time base of zero is clamped, not a crash")
    func zeroTimeBase() {
        #expect(MediaTime(ticks: 5, timeBase: Rational(1)).rescaled(to: Rational(0)).ticks == .max)
        #expect(MediaTime(ticks: -5, timeBase: Rational(1)).rescaled(to: Rational(0)).ticks == .min)
    }

    @Test("The same instant in two time bases is equal and hashes alike")
    func equality() {
        let a = MediaTime(ticks: 3003, timeBase: Self.mpeg)
        let b = MediaTime(ticks: 1001, timeBase: Rational(1, 30_000))
        #expect(a == b)
        #expect(Set([a, b]).count == 1)
        #expect(a != MediaTime(ticks: 3003, timeBase: Rational(1, 90_001)))
    }

    @Test("Times in different time bases are ordered exactly")
    func order() {
        let third = MediaTime(ticks: 1, timeBase: Rational(1, 3))
        #expect(MediaTime(ticks: 333, timeBase: Self.milliseconds) < third)
        #expect(third < MediaTime(ticks: 334, timeBase: Self.milliseconds))
        #expect(MediaTime(ticks: -334, timeBase: Self.milliseconds) < MediaTime(ticks: -1, timeBase: Rational(1, 3)))
        #expect(MediaTime(ticks: .min, timeBase: Self.mpeg) < MediaTime(ticks: .max, timeBase: Self.milliseconds))
    }

    @Test("Order and equality hold even if floating point could not distinguish the times")
    func exactComparison() {
        // 2^62 and 2^62 + 1 ticks of a base near 1 differ by less than a Double's step.
        let base = Rational(Int.max, Int.max - 1)
        let other = Rational(Int.max - 2, Int.max - 3)
        let a = MediaTime(ticks: 1 << 62, timeBase: base)
        let b = MediaTime(ticks: (1 << 62) + 1, timeBase: other)
        #expect(a.seconds == b.seconds)
        #expect(a < b)
        #expect(!(b < a))
        #expect(a != b)
    }

    @Test("Seconds are for display; the description shows ticks and time base")
    func display() {
        let time = MediaTime(ticks: 45_000, timeBase: Self.mpeg)
        #expect(time.seconds == 0.5)
        #expect("\(time)" == "45000*1/90000")
    }
}

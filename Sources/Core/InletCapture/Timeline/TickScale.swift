import InletCore

/// Turns ticks of one time base into nanoseconds: exactly, rounded down, and without a trap whatever the numbers.
struct TickScale {
    let timeBase: Rational
    /// Nanoseconds a tick, as a ratio in lowest terms.
    private let numerator: UInt64
    private let denominator: UInt64

    /// Returns nil if the time base cannot be one: zero, negative, or a tick of more than five centuries.
    init?(_ timeBase: Rational) {
        guard timeBase.numerator > 0, timeBase.denominator > 0 else { return nil }
        var (divisor, rest) = (UInt64(timeBase.denominator), UInt64(1_000_000_000))
        while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
        let (numerator, overflow) = UInt64(timeBase.numerator)
            .multipliedReportingOverflow(by: 1_000_000_000 / divisor)
        guard !overflow else { return nil }
        self.timeBase = timeBase
        self.numerator = numerator
        denominator = UInt64(timeBase.denominator) / divisor
    }

    /// Returns that many ticks in nanoseconds, or nil beyond ``FrameClock/limit``.
    func nanoseconds(_ ticks: Int64) -> Int64? {
        let product = ticks.magnitude.multipliedFullWidth(by: numerator)
        guard product.high < denominator else { return nil }
        var (quotient, remainder) =
            product.high == 0
            ? product.low.quotientAndRemainder(dividingBy: denominator) : denominator.dividingFullWidth(product)
        if ticks < 0, remainder != 0 { quotient &+= 1 }
        guard let magnitude = Int64(exactly: quotient), magnitude <= FrameClock.limit else { return nil }
        return ticks < 0 ? -magnitude : magnitude
    }

    /// Returns how many whole ticks fit in a duration of the program's own, at most a few days; clamped to 64 bits.
    func ticks(in nanoseconds: Int64) -> Int64 {
        MediaTime(ticks: nanoseconds, timeBase: Rational(1, 1_000_000_000)).rescaled(to: timeBase).ticks
    }
}

/// A point or a length on a source's own timeline, exact: a count of ticks of a rational time base.
///
/// Containers and cameras state presentation times in this form. ``VideoFrame/timestamp`` is derived from it by the
/// capture clock, on the machine's timeline.
public struct MediaTime: Sendable {
    /// The number of ticks; negative before the origin.
    public var ticks: Int64
    /// The length of a tick in seconds, greater than zero: 1/90000 in MPEG-TS, 1001/30000 in a 29.97 fps pattern.
    public var timeBase: Rational

    public init(ticks: Int64, timeBase: Rational) {
        self.ticks = ticks
        self.timeBase = timeBase
    }

    /// The time in nanoseconds, rounded down, clamped to 64 bits (292 years).
    public var nanoseconds: Int64 {
        rescaled(to: Rational(1, 1_000_000_000)).ticks
    }

    /// The time in seconds, for display and estimates.
    public var seconds: Double { Double(ticks) * timeBase.doubleValue }

    /// Returns the same time in ticks of another time base, rounded down and clamped to 64 bits; also clamped if the
    /// other time base is not greater than zero.
    ///
    /// Exact for time bases of 32-bit numbers, as all from outside are.
    public func rescaled(to other: Rational) -> MediaTime {
        guard other != timeBase else { return self }
        let dividend = Int128(ticks) * Int128(timeBase.numerator)
        let (scaled, overflow) = dividend.multipliedReportingOverflow(by: Int128(other.denominator))
        let divisor = Int128(timeBase.denominator) * Int128(other.numerator)
        guard !overflow, divisor > 0 else {
            return MediaTime(ticks: ticks < 0 ? .min : .max, timeBase: other)
        }
        let (quotient, remainder) = scaled.quotientAndRemainder(dividingBy: divisor)
        let floored = remainder != 0 && (remainder < 0) != (divisor < 0) ? quotient - 1 : quotient
        return MediaTime(ticks: Int64(clamping: floored), timeBase: other)
    }
}

extension MediaTime: Comparable, Hashable {
    public static func == (left: MediaTime, right: MediaTime) -> Bool {
        left.timeBase == right.timeBase ? left.ticks == right.ticks : compare(left, right) == 0
    }

    public static func < (left: MediaTime, right: MediaTime) -> Bool {
        left.timeBase == right.timeBase ? left.ticks < right.ticks : compare(left, right) < 0
    }

    /// Equal times hash alike whatever their time bases.
    public func hash(into hasher: inout Hasher) { hasher.combine(nanoseconds) }

    private static func compare(_ left: MediaTime, _ right: MediaTime) -> Int {
        // Whole seconds first, then the fractions, each less than its denominator: no product exceeds 128 bits.
        let (a, fractionA) = left.wholeAndFraction
        let (b, fractionB) = right.wholeAndFraction
        guard a == b else { return a < b ? -1 : 1 }
        let scaledA = fractionA * Int128(right.timeBase.denominator)
        let scaledB = fractionB * Int128(left.timeBase.denominator)
        return scaledA < scaledB ? -1 : scaledA > scaledB ? 1 : 0
    }

    /// Whole seconds, rounded down, and the remainder in parts of the time base's denominator.
    private var wholeAndFraction: (whole: Int128, fraction: Int128) {
        let denominator = Int128(timeBase.denominator)
        let (quotient, remainder) = (Int128(ticks) * Int128(timeBase.numerator))
            .quotientAndRemainder(dividingBy: denominator)
        return remainder < 0 ? (quotient - 1, remainder + denominator) : (quotient, remainder)
    }
}

extension MediaTime: CustomStringConvertible {
    public var description: String { "\(ticks)*\(timeBase)" }
}

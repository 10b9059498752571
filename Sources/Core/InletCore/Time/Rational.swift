/// An exact ratio of two integers, always in lowest terms with a positive denominator: a frame rate, a
/// time base, a pixel aspect ratio.
public struct Rational: Sendable, Hashable {
    /// The number above the line; carries the sign.
    public let numerator: Int
    /// The number below the line; greater than zero.
    public let denominator: Int

    /// Makes a ratio known to be well formed, such as a literal.
    ///
    /// - Precondition: `denominator` is not zero. Numbers from outside the program go through
    ///   ``init(exactly:over:)``.
    public init(_ numerator: Int, _ denominator: Int = 1) {
        precondition(denominator != 0, "a ratio with a denominator of zero")
        let divisor = Rational.greatestCommonDivisor(numerator.magnitude, denominator.magnitude)
        let (above, below) = (numerator / Int(clamping: divisor), denominator / Int(clamping: divisor))
        // -2^63 has no positive counterpart.
        self.numerator = below < 0 ? 0.subtracting(saturating: above) : above
        self.denominator = below < 0 ? 0.subtracting(saturating: below) : below
    }

    /// Makes a ratio of numbers from outside, or returns nil if the denominator is zero or either number, as given or
    /// in lowest terms, does not fit in 32 bits (the range of libav's `AVRational`).
    public init?(exactly numerator: Int, over denominator: Int) {
        guard denominator != 0, Int32(exactly: numerator) != nil, Int32(exactly: denominator) != nil else { return nil }
        self.init(numerator, denominator)
        // A negative denominator turns -2^31 into 2^31, which is out of range.
        guard Int32(exactly: self.numerator) != nil, Int32(exactly: self.denominator) != nil else { return nil }
    }

    /// The ratio as a floating-point number, for display and estimates.
    public var doubleValue: Double { Double(numerator) / Double(denominator) }

    /// The inverse of the ratio, or nil for zero.
    public var reciprocal: Rational? {
        numerator == 0 ? nil : Rational(denominator, numerator)
    }

    private static func greatestCommonDivisor(_ a: UInt, _ b: UInt) -> UInt {
        var (a, b) = (a, b)
        while b != 0 { (a, b) = (b, a % b) }
        return max(a, 1)
    }
}

extension Rational: Comparable {
    public static func < (left: Rational, right: Rational) -> Bool {
        Int128(left.numerator) * Int128(right.denominator) < Int128(right.numerator) * Int128(left.denominator)
    }
}

extension Rational: CustomStringConvertible {
    /// The ratio as text, such as `30` or `30000/1001`.
    public var description: String { denominator == 1 ? "\(numerator)" : "\(numerator)/\(denominator)" }
}

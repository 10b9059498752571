import InletCore
import Testing

@Suite struct RationalTests {
    @Test(
        "A ratio is kept in lowest terms with a positive denominator",
        arguments: [
            (50, 2, 25, 1), (30000, 1001, 30000, 1001), (2, -4, -1, 2), (-2, -4, 1, 2), (0, -7, 0, 1), (0, 5, 0, 1),
            (Int.min, Int.min, 1, 1), (Int.min, 2, Int.min / 2, 1), (Int.max, Int.max, 1, 1),
        ])
    func normalises(numerator: Int, denominator: Int, expectedNumerator: Int, expectedDenominator: Int) {
        let ratio = Rational(numerator, denominator)
        #expect(ratio.numerator == expectedNumerator)
        #expect(ratio.denominator == expectedDenominator)
    }

    @Test(
        "Numbers from outside are refused if libav could not hold the ratio",
        arguments: [
            (1, 0), (0, 0), (Int(Int32.max) + 1, 1), (1, Int(Int32.max) + 1), (1, Int(Int32.min)),
            (Int(Int32.min), -1), (Int.max, 1), (Int.min, -1),
        ])
    func refusesFromOutside(numerator: Int, denominator: Int) {
        #expect(Rational(exactly: numerator, over: denominator) == nil)
    }

    @Test(
        "Numbers from outside at the limit of 32 bits are accepted",
        arguments: [(Int(Int32.max), 1), (Int(Int32.min), 1), (1, Int(Int32.max)), (1, -Int(Int32.max)), (0, 1)])
    func takesFromOutside(numerator: Int, denominator: Int) throws {
        let ratio = try #require(Rational(exactly: numerator, over: denominator))
        #expect(Int32(exactly: ratio.numerator) != nil)
        #expect(Int32(exactly: ratio.denominator) != nil)
        #expect(ratio.doubleValue == Double(numerator) / Double(denominator))
    }

    @Test("Ratios compare by value, even if a cross product exceeds 64 bits")
    func compares() {
        #expect(Rational(30000, 1001) < Rational(30))
        #expect(Rational(-1, 2) < Rational(-1, 3))
        #expect(Rational(Int.max - 1, Int.max) < Rational(Int.max, Int.max - 1))
        #expect(!(Rational(1, 2) < Rational(2, 4)))
        #expect(Rational(1, 2) == Rational(2, 4))
        #expect(Rational(1, 2).hashValue == Rational(2, 4).hashValue)
    }

    @Test("The reciprocal of zero is nil, and the sign stays in the numerator")
    func reciprocal() {
        #expect(Rational(0).reciprocal == nil)
        #expect(Rational(-2, 3).reciprocal == Rational(-3, 2))
    }

    @Test("A whole number is written without a denominator")
    func description() {
        #expect("\(Rational(30))" == "30")
        #expect("\(Rational(30000, 1001))" == "30000/1001")
        #expect("\(Rational(-1, 3))" == "-1/3")
    }
}

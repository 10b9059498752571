import Testing

@testable import InletCore

@Suite struct SplitMix64Tests {
    @Test("The generator gives the published numbers")
    func referenceNumbers() {
        // The first outputs for this seed of Vigna's splitmix64.c, as many implementations list them.
        var numbers = SplitMix64(seed: 1_234_567)
        let expected: [UInt64] = [
            6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
        ]
        for number in expected { #expect(numbers.next() == number) }
    }

    @Test("Fractions are at least 0 and below 1, and differ")
    func fractions() {
        var numbers = SplitMix64(seed: 1)
        let fractions = (0..<1000).map { _ in numbers.fraction() }
        #expect(fractions.allSatisfy { $0 >= 0 && $0 < 1 })
        #expect(Set(fractions).count > 990)
    }
}

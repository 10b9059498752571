import Testing

@testable import PatternSource

struct SplitMix64Tests {
    @Test("the generator gives the published numbers")
    func referenceNumbers() {
        // The first outputs for this seed of Vigna's splitmix64.c, as many implementations list them.
        var numbers = SplitMix64(seed: 1_234_567)
        let expected: [UInt64] = [
            6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
        ]
        for number in expected { #expect(numbers.next() == number) }
    }
}

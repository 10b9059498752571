import Testing

@testable import V4L2Source

@Suite struct SequenceCounterTests {
    /// The numbers that frames get for a driver's.
    private static func numbers(_ driver: [UInt32]) -> [UInt64] {
        var counter = SequenceCounter()
        return driver.map {
            counter.advance(to: $0)
            return counter.take()
        }
    }

    @Test(
        "A driver's gaps stay gaps, and nothing else is one",
        arguments: [
            ([0, 1, 2, 3], [0, 1, 2, 3]),
            ([17, 18, 20], [0, 1, 3]),
            ([0, 0, 0], [0, 1, 2]),
            ([5, 6, 0, 1], [0, 1, 2, 3]),
            ([0xFFFF_FFFE, 0xFFFF_FFFF, 0, 1, 3], [0, 1, 2, 3, 5]),
            ([0xFFFF_FFFF, 2], [0, 3]),
            ([0, 1_000_000, 1_000_001], [0, 1, 2]),
        ] as [([UInt32], [UInt64])])
    func gaps(driver: [UInt32], expected: [UInt64]) {
        #expect(Self.numbers(driver) == expected)
    }

    @Test("A buffer that is dropped and counted leaves no gap")
    func counted() {
        var counter = SequenceCounter()
        counter.advance(to: 0)
        #expect(counter.take() == 0)
        counter.advance(to: 1)
        counter.advance(to: 2)
        #expect(counter.take() == 1)
    }

    @Test("A driver that starts anew loses nothing")
    func restart() {
        var counter = SequenceCounter()
        counter.advance(to: 7)
        _ = counter.take()
        counter.restart()
        #expect(counter.advance(to: 12) == 0)
        #expect(counter.take() == 1)
    }
}

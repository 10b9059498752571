import Testing

@testable import V4L2Source

@Suite struct SequenceCounterTests {
    /// The frame numbers for a driver's numbers.
    private static func numbers(_ driver: [UInt32]) -> [UInt64] {
        var counter = SequenceCounter()
        return driver.map {
            counter.advance(to: $0)
            return counter.take()
        }
    }

    @Test(
        "A driver's gaps stay gaps, and there are no others",
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

    @Test(
        "From v4l2loopback, 0 means nothing, so that a reader that opens makes no gap",
        arguments: [
            ([0, 1000, 1001, 1003], [0, 1, 2, 4]), ([7, 0, 60, 61], [0, 1, 2, 3]), ([0, 0, 0], [0, 1, 2]),
        ] as [([UInt32], [UInt64])])
    func loopback(driver: [UInt32], expected: [UInt64]) {
        var counter = SequenceCounter()
        let numbers = driver.map { number in
            counter.advance(loopback: number)
            return counter.take()
        }
        #expect(numbers == expected)
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

    @Test("A driver that restarts loses nothing")
    func restart() {
        var counter = SequenceCounter()
        counter.advance(to: 7)
        _ = counter.take()
        counter.restart()
        #expect(counter.advance(to: 12) == 0)
        #expect(counter.take() == 1)
    }
}

import Testing

@testable import V4L2Source

@Suite struct RingOrderTests {
    @Test(
        "The buffer that is filled next is the one that was filled before all others",
        arguments: [
            (5, [6, 7, 8], true), (5, [6, 7, 4], false), (8, [5, 6, 7], false),
            // Numbers that a reader has reset, or that the writer does not give.
            (0, [0, 0, 0], false), (0, [9, 10, 0], false), (0, [9, 10, 11], true), (9, [0, 0, 10], false),
            // The count wraps.
            (0xFFFF_FFFE, [0xFFFF_FFFF, 0, 1], true), (1, [0xFFFF_FFFE, 0xFFFF_FFFF, 0], false),
            // A ring of one.
            (3, [], false),
        ] as [(UInt32, [UInt32], Bool)])
    func oldest(number: UInt32, others: [UInt32], expected: Bool) {
        #expect(RingOrder.isOldest(number, among: others) == expected)
    }
}

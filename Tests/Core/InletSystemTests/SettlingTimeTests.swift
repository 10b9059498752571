import InletCore
import InletSystem
import Testing

@Suite struct SettlingTimeTests {
    static func at(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    @Test(
        "A changing state is due when it has settled, and at the latest after the limit",
        arguments: [
            ([0], 100), ([0, 50], 150), ([0, 99, 198], 298), (Array(stride(from: 0, to: 500, by: 90)), 500),
            ([0, 90, 180, 270, 360, 450, 480], 500),
        ] as [([Int64], Int64)])
    func due(changes: [Int64], expected: Int64) {
        var settling = SettlingTime(quiet: .milliseconds(100), limit: .milliseconds(500))
        #expect(settling.due == nil)
        for change in changes { settling.note(at: Self.at(change)) }
        #expect(settling.due == Self.at(expected))
        let taken = [expected - 1, expected, expected].map { settling.take(at: Self.at($0)) }
        #expect(taken == [false, true, false])
        #expect(settling.due == nil)
    }
}

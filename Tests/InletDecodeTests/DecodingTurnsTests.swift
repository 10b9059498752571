import Dispatch
import ReferenceTools
import Testing

@testable import InletDecode

@Suite(.timeLimit(.minutes(1))) struct DecodingTurnsTests {
    @Test("There are as many turns as processors; then the waiting one of the least rank is next, and waiting ends")
    func turns() async {
        let turns = DecodingTurns(count: 1)
        #expect(turns.take(rank: 5, atMost: .seconds(1)))
        #expect(!turns.take(rank: 0, atMost: .milliseconds(5)))
        let (order, served) = AsyncStream.makeStream(of: Double.self)
        for (index, rank) in [3.0, -1, 2].enumerated() {
            // A thread of its own, as it blocks.
            DispatchQueue(label: "turn").async {
                if turns.take(rank: rank, atMost: .seconds(50)) {
                    served.yield(rank)
                    turns.give()
                }
            }
            await Waiting.until { turns.waiting > index }
        }
        turns.give()
        var seen: [Double] = []
        for await rank in order.prefix(3) { seen.append(rank) }
        #expect(seen == [-1, 2, 3])
        await Waiting.until { turns.take(rank: 0, atMost: .milliseconds(5)) }
    }
}

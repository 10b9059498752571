import InletCore
import InletTesting
import Synchronization
import Testing

@testable import InletCapture

@Suite(.timeLimit(.minutes(10))) struct PastSinksTests {
    private func counters(delivered: UInt64) -> SinkCounters {
        let counters = SinkCounters()
        counters.delivered.store(delivered, ordering: .relaxed)
        counters.countDrop(.queueFull, 2)
        counters.isAttached.store(false, ordering: .relaxed)
        return counters
    }

    /// The totals of all sinks of a name.
    private func sum(_ name: String, _ past: PastSinks) -> (delivered: UInt64, drops: UInt64) {
        (past.sums + past.figures).filter { $0.name == name }.reduce((0, 0)) {
            ($0.0 + $1.delivered, $0.1 + $1.drops.values.reduce(0, +))
        }
    }

    @Test("However many sinks end, the sums of each name continue, and the memory is bounded")
    func sums() {
        var past = PastSinks()
        for round in 1...500 {
            for (name, delivered) in [("webrtc", UInt64(3)), ("recording", 5)] {
                past.add(SinkID(number: round), name, counters(delivered: delivered))
            }
            #expect(sum("webrtc", past) == (UInt64(round) * 3, UInt64(round) * 2))
            #expect(sum("recording", past) == (UInt64(round) * 5, UInt64(round) * 2))
        }
        #expect(past.figures.count == PastSinks.limit && past.sums.count == 2)
    }

    @Test("The oldest of an endless series of names are forgotten")
    func names() {
        var past = PastSinks()
        for number in 1...500 { past.add(SinkID(number: number), "sink \(number)", counters(delivered: 1)) }
        let numbers = (past.sums + past.figures).map(\.id.number)
        #expect(numbers == Array(500 - 2 * PastSinks.limit + 1...500))
    }

    @Test("A capturer's delivered count does not fall when sinks were attached a hundred times")
    func capturer() async throws {
        let source = ScriptedSourceConfiguration(.init(format: ScriptedSource.format(), .frames(1) + [.hang]))
        let capturer = Capturer(source, configuration: .patient)
        let first = RecordingSink.Log()
        let id = capturer.attach(RecordingSink(log: first), named: "recording")
        async let reason = capturer.run()
        await first.frames(atLeast: 1)
        try await capturer.detach(id)
        for _ in 0..<100 {
            try await capturer.detach(capturer.attach(RecordingSink(log: RecordingSink.Log()), named: "recording"))
        }
        let statistics = capturer.statistics
        #expect(!statistics.sinks.contains { $0.id == id })
        #expect(statistics.delivered == 1 && statistics.earlierSinks.map(\.delivered) == [1])
        capturer.stop()
        #expect(try await reason == .cancelled)
    }
}

import InletCore
import InletRTP
import Testing

/// Packets are delivered in the order of their numbers, or marked as those of another stream.
@Suite struct ReceptionOrderTests {
    @Test("A sender that restarts among the waiting numbers is a restart, after the waiting packets")
    func restartAmongHeld() {
        var log = ReceiverLog()
        log.receive(100, timestamp: 0)
        // 101 is missing, so these wait.
        for sequence in 102...106 as ClosedRange<UInt16> { log.receive(sequence, timestamp: 3000, at: 1) }
        for sequence in 102...105 as ClosedRange<UInt16> { log.receive(sequence, timestamp: 900_000, at: 2) }
        #expect(log.delivered.map(\.header.sequence) == [100, 102, 103, 104, 105, 106, 102, 103, 104, 105])
        #expect(log.delivered.map(\.lostBefore) == [0, 1, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(log.delivered.firstIndex { $0.isRestart } == 6)
        #expect(log.delivered.count { $0.isRestart } == 1)
        #expect(log.receiver.deadline == nil)
        #expect(log.hasRightBytes)
    }
}

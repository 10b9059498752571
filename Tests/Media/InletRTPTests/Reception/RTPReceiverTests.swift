import InletCore
import InletRTP
import Testing

@Suite struct RTPReceiverTests {
    private func udp() -> ReceiverLog { ReceiverLog { $0.payloadTypes = [96] } }
    private func tcp() -> ReceiverLog {
        ReceiverLog {
            $0.payloadTypes = [96]
            $0.isOrdered = true
        }
    }

    @Test("Packets in order are delivered at once, over the wrap of the sequence number")
    func inOrder() {
        var log = udp()
        for step in 0..<70_000 {
            let sequence = UInt16(truncatingIfNeeded: 65_000 + step)
            #expect(log.receive(sequence, timestamp: UInt32(step)) == [sequence])
        }
        #expect(log.receiver.statistics.lost == 0)
        #expect(log.receiver.statistics.received == 70_000)
        #expect(log.receiver.deadline == nil)
        #expect(log.hasRightBytes)
        #expect(log.delivered.allSatisfy { $0.lostBefore == 0 && !$0.isRestart })
    }

    /// TestUnrealiableReorder of gortsplib, pkg/rtpreceiver/receiver_test.go (MIT).
    private static let reordering: [(UInt16, [UInt16])] = [
        (65530, [65530]), (65529, []), (65531, [65531]), (65531, []), (65535, []), (65533, []), (65533, []),
        (65532, [65532, 65533]), (65534, [65534, 65535]), (1, []), (0, [0, 1]),
    ]

    @Test("Packets out of order wait for those before them; duplicates and packets from before the first are dropped")
    func reordered() {
        var log = udp()
        for (sequence, delivered) in Self.reordering { #expect(log.receive(sequence) == delivered) }
        let statistics = log.receiver.statistics
        #expect(statistics.received == 8)
        #expect(statistics.duplicates == 2)
        #expect(statistics.late == 1)
        #expect(statistics.reordered == 4)
        #expect(statistics.lost == 0)
        #expect(log.receiver.extendedHighestSequence == 65536 + 1)
        #expect(log.hasRightBytes)
    }

    @Test("A gap is given up after 30 ms, and the next packet states the loss")
    func deadline() {
        var log = udp()
        log.receive(10, at: 0)
        #expect(log.receive(13, at: 5) == [])
        #expect(log.receive(14, at: 20) == [])
        #expect(log.receiver.deadline == PacketScript.time(35))
        #expect(log.release(at: 34) == [])
        #expect(log.release(at: 35) == [13, 14])
        #expect(log.delivered.map(\.lostBefore) == [0, 2, 0])
        #expect(log.delivered.map(\.arrival) == [0, 5, 20].map(PacketScript.time))
        #expect(log.receiver.deadline == nil)
        #expect(log.receiver.statistics.lost == 2)
        // Any packet after that is late.
        #expect(log.receive(11, at: 36) == [])
        #expect(log.receiver.statistics.late == 1)
        #expect(log.receive(15, at: 37) == [15])
    }

    @Test("A packet after the deadline releases the packets that wait before it is itself judged")
    func overdue() {
        var log = udp()
        log.receive(10, at: 0)
        log.receive(12, at: 5)
        #expect(log.receive(13, at: 60) == [12, 13])
        #expect(log.delivered.map(\.lostBefore) == [0, 1, 0])
    }

    @Test("Each gap has its own deadline")
    func twoGaps() {
        var log = udp()
        log.receive(10, at: 0)
        log.receive(12, at: 5)
        log.receive(14, at: 25)
        #expect(log.release(at: 35) == [12])
        #expect(log.receiver.deadline == PacketScript.time(55))
        #expect(log.release(at: 55) == [14])
    }

    @Test("Packets wait no longer than the time between pictures")
    func oneInterval() {
        var log = udp()
        for step in 0..<20 { log.receive(UInt16(step), timestamp: UInt32(step * 1500), at: Int64(step) * 16) }
        log.receive(21, timestamp: 31_500, at: 320)
        #expect(log.receiver.deadline == PacketScript.time(336))
    }

    @Test("If each packet has its own timestamp, the timestamps do not shorten the wait")
    func timesOfTransmission() {
        var log = ReceiverLog { $0.hasPictureTimes = false }
        for step in 0..<20 { log.receive(UInt16(step), timestamp: UInt32(step * 90), at: Int64(step)) }
        log.receive(21, timestamp: 1890, at: 21)
        #expect(log.receiver.deadline == PacketScript.time(51))
    }

    @Test("An ordered transport's gap is a loss at once")
    func orderedGap() {
        var log = tcp()
        log.receive(65_534)
        #expect(log.receive(1) == [1])
        #expect(log.delivered.last?.lostBefore == 2)
        #expect(log.receiver.deadline == nil)
        #expect(log.receiver.statistics.lost == 2)
    }

    @Test("A duplicate with a payload type of no stream is dropped and does not disturb the sequence")
    func foreignPayloadType() {
        var log = tcp()
        for sequence in UInt16(100)..<110 {
            #expect(log.receive(PacketScript.packet(sequence, type: 50)) == [])
            #expect(log.receive(sequence) == [sequence])
        }
        #expect(log.receiver.statistics.wrongPayloadType == 10)
        #expect(log.receiver.statistics.duplicates == 0)
        #expect(log.receiver.statistics.lost == 0)
    }

    @Test("Malformed packets are counted and change nothing", arguments: malformed)
    func isMalformed(_ bytes: [UInt8]) {
        var log = udp()
        log.receive(1)
        #expect(log.receive(bytes) == [])
        #expect(log.receive(2) == [2])
        #expect(log.receiver.statistics.malformed == 1)
    }

    private static let malformed: [[UInt8]] = [[], [0x80, 96], [0x40] + PacketScript.packet(2).dropFirst()]

    @Test(
        "A jump of the sequence numbers is followed with the second packet, and none is lost",
        arguments: [(1000, 31_000), (31_000, 1000), (65_000, 30_000), (40, 36_000)] as [(UInt16, UInt16)],
        [true, false])
    func jump(_ numbers: (UInt16, UInt16), _ isOrdered: Bool) {
        var log = isOrdered ? tcp() : udp()
        let (old, new) = numbers
        for step in UInt16(0)..<5 { log.receive(old + step, timestamp: UInt32(step)) }
        #expect(log.receive(new, timestamp: 9000) == [])
        #expect(log.receive(new &+ 1, timestamp: 9000) == [new, new + 1])
        #expect(log.receive(new &+ 2, timestamp: 9000) == [new + 2])
        #expect(log.delivered.map(\.isRestart) == [false, false, false, false, false, true, false, false])
        #expect(log.receiver.statistics.restarts == 1)
        #expect(log.receiver.statistics.lost == 0)
        #expect(log.hasRightBytes)
    }

    @Test(
        "A single packet far off is forgotten", arguments: [true, false], [3000, 30_000, 40_000, 64_000] as [UInt16])
    func strayPacket(_ isOrdered: Bool, _ offset: UInt16) {
        var log = isOrdered ? tcp() : udp()
        log.receive(500)
        #expect(log.receive(500 &+ offset) == [])
        for step in UInt16(1)..<5 { #expect(log.receive(500 + step) == [500 + step]) }
        #expect(log.receiver.statistics.restarts == 0)
        #expect(log.receiver.statistics.strays == 1)
    }

    @Test("A great loss is a loss, not a restart, and is certain with the second packet")
    func greatLoss() {
        var log = tcp()
        log.receive(500)
        #expect(log.receive(1500) == [])
        #expect(log.receive(1501) == [1500, 1501])
        #expect(log.delivered.map(\.lostBefore) == [0, 999, 0])
        #expect(log.receiver.statistics.restarts == 0)
        #expect(log.receiver.statistics.lost == 999)
    }

    @Test(
        "A stream that restarts within the last numbers is followed within a few packets", arguments: [true, false])
    func restartNearby(_ isOrdered: Bool) {
        var log = isOrdered ? tcp() : udp()
        for step in UInt16(0)..<50 { log.receive(step, timestamp: 5_000_000 + UInt32(step)) }
        #expect(log.receive(0, timestamp: 7) == [])
        #expect(log.receive(1, timestamp: 7) == [])
        #expect(log.receive(2, timestamp: 7) == [])
        #expect(log.receive(3, timestamp: 7) == [0, 1, 2, 3])
        #expect(log.delivered.suffix(4).map(\.isRestart) == [true, false, false, false])
    }

    @Test("A burst of duplicates is dropped, however long it is")
    func burstOfDuplicates() {
        var log = udp()
        for step in UInt16(0)..<300 { log.receive(step, timestamp: UInt32(step)) }
        for step in UInt16(0)..<300 { #expect(log.receive(step, timestamp: UInt32(step)) == []) }
        #expect(log.receive(300) == [300])
        #expect(log.receiver.statistics.duplicates == 300)
        #expect(log.receiver.statistics.restarts == 0)
    }

    @Test("A reset lets the next packet restart the stream, whatever its number and source")
    func reset() {
        var log = udp()
        log.receive(10)
        log.receive(12)
        log.receiver.reset()
        #expect(log.receiver.deadline == nil)
        #expect(log.receive(PacketScript.packet(5, ssrc: 77)) == [5])
        #expect(log.delivered.last?.isRestart == true)
        #expect(log.receiver.ssrc == 77)
        #expect(log.receive(PacketScript.packet(6, ssrc: 77)) == [6])
        #expect(log.delivered.last?.isRestart == false)
    }

    @Test("A few packets from long ago are no restart, eight in a row are")
    func oldPackets() {
        var log = udp()
        for step in UInt16(0)..<2000 { log.receive(step, timestamp: UInt32(step)) }
        for step in UInt16(0)..<7 { #expect(log.receive(1000 + step, timestamp: 1000) == []) }
        #expect(log.receive(2000, timestamp: 2000) == [2000])
        for step in UInt16(0)..<7 { #expect(log.receive(1000 + step, timestamp: 1000) == []) }
        #expect(log.receive(1007, timestamp: 1000) == Array(1000...1007))
    }
}

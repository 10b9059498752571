import InletCore
import InletRTP
import Testing

@Suite struct ReceptionLimitsTests {
    @Test("Without room for another packet, those that wait before it are delivered early")
    func bytes() {
        var log = ReceiverLog { $0.maximumHeldBytes = 5000 }
        log.receive(0)
        for sequence in UInt16(2)..<6 { #expect(log.receive(PacketScript.packet(sequence, size: 1200)) == []) }
        #expect(log.receive(PacketScript.packet(6, size: 1200)) == [2, 3, 4, 5, 6])
        #expect(log.delivered.map(\.lostBefore) == [0, 1, 0, 0, 0, 0])
        #expect(log.hasRightBytes)
    }

    @Test("Without room, packets that wait for a further gap keep waiting for it")
    func bytesBeyondGap() {
        var log = ReceiverLog { $0.maximumHeldBytes = 5000 }
        log.receive(0)
        for sequence in [2, 8, 9, 10] as [UInt16] { log.receive(PacketScript.packet(sequence, size: 1200)) }
        #expect(log.receive(PacketScript.packet(4, size: 1200)) == [2, 4])
        #expect(log.receive(3) == [])
        for sequence in [5, 6] as [UInt16] { #expect(log.receive(sequence) == [sequence]) }
        #expect(log.receive(7) == [7, 8, 9, 10])
        #expect(log.hasRightBytes)
    }

    @Test("Room becomes free though packets leave out of order, as long as something waits")
    func longReordering() {
        var log = ReceiverLog { $0.maximumHeldBytes = 8000 }
        log.receive(0)
        var expected: [UInt16] = [0]
        // Pairs are swapped so that at every moment one packet waits.
        for step in UInt16(0)..<5000 {
            log.receive(PacketScript.packet(2 * step + 2, size: 600 + Int(step % 500)))
            log.receive(PacketScript.packet(2 * step + 4, size: 900))
            log.receive(PacketScript.packet(2 * step + 1, size: 300))
            expected += [2 * step + 1, 2 * step + 2]
        }
        #expect(log.delivered.prefix(10_001).map(\.header.sequence) == expected)
        #expect(log.receiver.statistics.lost == 0)
        #expect(log.hasRightBytes)
    }

    /// TestUnrealiableBufferFull of gortsplib, pkg/rtpreceiver/receiver_test.go (MIT), which delivers when 64 packets
    /// wait; the report is the same when time is up.
    @Test("34 packets lost of 66 are reported as RFC 3550 counts")
    func report() throws {
        var log = ReceiverLog()
        log.receive(PacketScript.packet(1564, ssrc: 0))
        for sequence in UInt16(1599)..<1630 { #expect(log.receive(PacketScript.packet(sequence, ssrc: 0)) == []) }
        log.release(at: 30)
        #expect(log.delivered.map(\.lostBefore).prefix(3) == [0, 34, 0])
        let made = log.receiver.receptionReport(at: PacketScript.time(30))
        let report = try #require(made)
        var expected = ReceptionReport(ssrc: 0)
        (expected.fractionLost, expected.lost, expected.extendedHighestSequence) = (131, 34, 1629)
        expected.jitter = report.jitter
        #expect(report == expected)
    }

    @Test("Any bytes in any order are accepted without a crash, within the limits, and in order", arguments: 0..<4)
    func mutated(_ seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var log = ReceiverLog {
            $0.isOrdered = seed == 3
            $0.payloadTypes = seed == 1 ? [] : [96]
            $0.maximumHeldBytes = 20_000
        }
        var sequence: UInt16 = 65_000
        var milliseconds: Int64 = 0
        for _ in 0..<20_000 {
            switch random.next() % 200 {
            case 0: sequence = UInt16(truncatingIfNeeded: random.next())
            case 1...3: sequence &-= UInt16(random.next() % 300)
            case 4...9: sequence &+= UInt16(random.next() % 300)
            case 10...40: sequence &+= 2
            case 41...60: sequence &-= 1
            default: sequence &+= 1
            }
            var bytes = PacketScript.packet(
                sequence, timestamp: UInt32(sequence / 8), ssrc: random.next() % 50 == 0 ? 1 : 2,
                size: Int(random.next() % 1500))
            for _ in 0..<(random.next() % 20 == 0 ? 3 : 0) {
                bytes[Int(random.next() % UInt64(min(bytes.count, 20)))] = UInt8(truncatingIfNeeded: random.next())
            }
            if random.next() % 50 == 0 { bytes = Array(bytes.prefix(Int(random.next() % 20))) }
            milliseconds += Int64(random.next() % 3)
            log.receive(bytes, at: milliseconds)
            if let deadline = log.receiver.deadline {
                #expect(deadline > PacketScript.time(milliseconds))
                #expect(deadline <= PacketScript.time(milliseconds + 30))
            }
        }
        for (one, next) in zip(log.delivered, log.delivered.dropFirst()) where !next.isRestart {
            #expect(next.header.sequence == one.header.sequence &+ UInt16(next.lostBefore) &+ 1)
            #expect(next.header.ssrc == one.header.ssrc)
        }
        #expect(log.delivered.count > 10_000)
        #expect(log.delivered.count { $0.isRestart } == log.receiver.statistics.restarts)
        // No stream stays stuck: an undisturbed one is followed.
        let before = log.delivered.count
        for step in UInt16(0)..<64 {
            log.receive(PacketScript.packet(step, timestamp: UInt32(step), ssrc: 9), at: milliseconds + 100)
        }
        #expect(log.delivered.count >= before + 64)
        #expect(log.receiver.ssrc == 9)
    }
}

import InletCore
import InletRTP
import Testing

@Suite struct ForeignSourceTests {
    private func foreign(_ sequence: UInt16, timestamp: UInt32 = 0, size: Int = 2) -> [UInt8] {
        PacketScript.packet(sequence, timestamp: timestamp, ssrc: 0xF0E1_6900, size: size)
    }

    @Test("Packets of another session between the stream's own are ignored")
    func interleaved() {
        var log = ReceiverLog { $0.isOrdered = true }
        for step in UInt16(0)..<100 {
            #expect(log.receive(step, timestamp: UInt32(step), at: Int64(step) * 40) == [step])
            for part in UInt16(0)..<7 {
                #expect(log.receive(foreign(9000 + step * 7 + part), at: Int64(step) * 40 + 1) == [])
            }
        }
        #expect(log.receiver.statistics.foreignSource == 700)
        #expect(log.receiver.statistics.restarts == 0)
        #expect(log.receiver.statistics.lost == 0)
    }

    @Test("A long picture of another session does not count as a new sender")
    func longPicture() {
        var log = ReceiverLog { $0.isOrdered = true }
        log.receive(1, at: 0)
        for part in UInt16(0)..<200 { #expect(log.receive(foreign(part, size: 1400), at: 5) == []) }
        #expect(log.receive(2, at: 40) == [2])
        #expect(log.receiver.statistics.restarts == 0)
    }

    @Test("Eight packets in a row of more than one picture are a new sender, and none of them is lost")
    func takeover() {
        var log = ReceiverLog()
        log.receive(1, at: 0)
        for step in UInt16(0)..<7 {
            #expect(log.receive(foreign(65_532 &+ step, timestamp: UInt32(step / 4)), at: 10) == [])
        }
        let delivered = log.receive(foreign(3, timestamp: 1), at: 11)
        #expect(delivered == [65_532, 65_533, 65_534, 65_535, 0, 1, 2, 3])
        #expect(log.delivered.map(\.isRestart) == [false, true] + [Bool](repeating: false, count: 7))
        #expect(log.receiver.ssrc == 0xF0E1_6900)
        #expect(log.receive(foreign(4, timestamp: 1), at: 12) == [4])
        #expect(log.hasRightBytes)
        #expect(log.receiver.extendedHighestSequence == 65_536 + 4)
    }

    @Test("After half a second of silence two packets of two pictures suffice")
    func silence() {
        var log = ReceiverLog()
        log.receive(1, at: 0)
        #expect(log.receive(foreign(50), at: 499) == [])
        #expect(log.receive(foreign(51, timestamp: 1), at: 500) == [50, 51])
        #expect(log.delivered.map(\.isRestart) == [false, true, false])
    }

    @Test("A small picture of another session before each of the stream's own is ignored, however far apart they are")
    func slowPictures() {
        var log = ReceiverLog { $0.isOrdered = true }
        for step in UInt16(0)..<20 {
            if step > 0 {
                for part in UInt16(0)..<5 {
                    let packet = foreign(9000 + step * 5 + part, timestamp: UInt32(step))
                    #expect(log.receive(packet, at: Int64(step) * 2000) == [])
                }
            }
            #expect(log.receive(step, timestamp: UInt32(step), at: Int64(step) * 2000) == [step])
        }
        #expect(log.receiver.statistics.restarts == 0)
    }

    @Test("The first packets of a source other than the one announced are not lost")
    func wrongAnnouncement() {
        var log = ReceiverLog { $0.expectedSSRC = 0x1234_5678 }
        for step in UInt16(0)..<7 { #expect(log.receive(foreign(step)) == []) }
        #expect(log.receive(foreign(7)) == [0, 1, 2, 3, 4, 5, 6, 7])
        #expect(log.delivered.allSatisfy { !$0.isRestart })
        #expect(log.receiver.ssrc == 0xF0E1_6900)
    }

    @Test("The announced source is followed from its first packet, though others came before")
    func rightAnnouncement() {
        var log = ReceiverLog { $0.expectedSSRC = 0xBA9D_A416 }
        for step in UInt16(0)..<5 { #expect(log.receive(foreign(step)) == []) }
        #expect(log.receive(77) == [77])
        #expect(log.receive(foreign(5)) == [])
        #expect(log.receive(78) == [78])
    }

    @Test("If foreign sources are refused, none is ever followed")
    func refusal() {
        var log = ReceiverLog {
            $0.expectedSSRC = 0xBA9D_A416
            $0.refusesForeignSSRC = true
        }
        for step in UInt16(0)..<1000 {
            #expect(log.receive(foreign(step, timestamp: UInt32(step)), at: Int64(step) * 40) == [])
        }
        #expect(log.receiver.statistics.foreignSource == 1000)
        #expect(log.receive(5, at: 50_000) == [5])
    }

    @Test("Waiting packets are delivered before those of a new sender")
    func heldPackets() {
        var log = ReceiverLog()
        log.receive(1, at: 0)
        log.receive(3, at: 1)
        for step in UInt16(0)..<7 { log.receive(foreign(step, timestamp: UInt32(step)), at: 2) }
        #expect(log.receive(foreign(7), at: 3) == [3, 0, 1, 2, 3, 4, 5, 6, 7])
        #expect(log.delivered.map(\.lostBefore).prefix(3) == [0, 1, 0])
    }

    @Test("If more packets arrive than can be kept, the last ones in a row are delivered")
    func longPictureOfNewSender() {
        var log = ReceiverLog()
        log.receive(1, at: 0)
        for part in UInt16(0)..<100 { #expect(log.receive(foreign(part), at: 5) == []) }
        #expect(log.receive(foreign(100, timestamp: 3600), at: 45) == Array(64...100))
        #expect(log.delivered.map(\.lostBefore).allSatisfy { $0 == 0 })
        #expect(log.delivered[1].isRestart)
        #expect(log.receive(foreign(101, timestamp: 3600), at: 46) == [101])
    }

    @Test("If the first packets are a stranger's that stops, the stream is followed half a second later")
    func strangerFirst() {
        var log = ReceiverLog { $0.refusesForeignSSRC = true }
        #expect(log.receive(foreign(9000), at: 0) == [9000])
        // A picture of two packets every 40 ms.
        for step in UInt16(0)..<13 {
            let time = Int64(step / 2) * 40 + 10
            #expect(log.receive(step, timestamp: UInt32(step / 2), at: time) == [])
        }
        #expect(log.receive(13, timestamp: 6, at: 500) == Array(0...13))
        #expect(log.receiver.ssrc == 0xBA9D_A416)
        #expect(log.delivered.map(\.isRestart).filter { $0 }.count == 1)
        #expect(log.receive(14, timestamp: 7, at: 540) == [14])
    }

    /// Sends the stream together with a stranger of fewer packets, which comes first.
    private func compete(strangers: Int) -> ReceiverLog {
        var log = ReceiverLog { $0.refusesForeignSSRC = true }
        var (own, other): (UInt16, UInt16) = (0, 9000)
        for picture in UInt32(0)..<250 {
            let time = Int64(picture) * 40
            for _ in 0..<strangers {
                log.receive(foreign(other, timestamp: picture), at: time)
                other += 1
            }
            for _ in 0..<10 {
                log.receive(own, timestamp: picture, at: time)
                own += 1
            }
        }
        return log
    }

    @Test("If two sources continue, the one with more packets is the stream after a second, whichever was first")
    func majority() {
        let late = compete(strangers: 3)
        #expect(late.receiver.ssrc == 0xBA9D_A416)
        #expect(late.receiver.statistics.restarts == 1)
        #expect(late.delivered.filter { $0.header.ssrc != 0xBA9D_A416 }.count <= 3 * 27)
        #expect(late.delivered.last?.header.sequence == 2499)
        // Here the first source has more packets.
        let early = compete(strangers: 20)
        #expect(early.receiver.statistics.restarts == 0)
        #expect(early.delivered.count == 20 * 250)
    }

    @Test("A chosen source is left only after two seconds of silence")
    func decided() {
        var log = ReceiverLog { $0.refusesForeignSSRC = true }
        for step in UInt16(0)..<200 {
            log.receive(step, timestamp: UInt32(step), at: Int64(step) * 20)
            if step % 4 == 0 { log.receive(foreign(step / 4, timestamp: UInt32(step)), at: Int64(step) * 20 + 1) }
        }
        for step in UInt16(0)..<40 {
            #expect(log.receive(foreign(50 + step, timestamp: UInt32(step)), at: 4000 + Int64(step) * 48) == [])
        }
        #expect(log.receive(foreign(90, timestamp: 40), at: 6000).last == 90)
    }
}

import InletCore
import Testing

@testable import InletRTP

/// Lost packets that a receiver requests, and that are sent again.
@Suite struct RetransmissionTests {
    private static let stream = Retransmission.Stream(payloadType: 97, originalType: 96)

    private static func log(_ stream: Retransmission.Stream? = stream) -> ReceiverLog {
        ReceiverLog {
            $0.payloadTypes = [96]
            $0.retransmission = Retransmission(stream, time: .milliseconds(500))
        }
    }

    /// A packet of the retransmission stream (RFC 4588, section 4), with four bytes of padding.
    private static func repeated(_ sequence: UInt16, timestamp: UInt32 = 0) -> [UInt8] {
        var bytes = PacketScript.packet(7, timestamp: timestamp, ssrc: 0x1234_5678, type: 97 | 0x80, size: 0)
        bytes[0] |= 0x20
        let number = [UInt8(sequence >> 8), UInt8(sequence & 0xFF)]
        return Array(bytes[..<12]) + number + number + [0, 0, 0, 4]
    }

    private static func due(_ log: inout ReceiverLog, at milliseconds: Int64) -> [UInt16] {
        log.receiver.takeRequests(at: PacketScript.time(milliseconds))
    }

    @Test("A lost packet is requested after 3 ms, and delivered in its place with its own header")
    func recovered() throws {
        var log = Self.log()
        #expect(log.receive(10, timestamp: 1, at: 0) == [10])
        #expect(log.receive(13, timestamp: 2, at: 5) == [])
        #expect(log.receiver.requestDeadline == PacketScript.time(8))
        #expect(Self.due(&log, at: 7) == [])
        #expect(Self.due(&log, at: 8) == [11, 12])
        #expect(Self.due(&log, at: 9) == [])
        #expect(log.receive(Self.repeated(11, timestamp: 2), at: 12) == [11])
        #expect(log.receive(Self.repeated(12, timestamp: 2), at: 13) == [12, 13])
        #expect(log.hasRightBytes)
        let header = try #require(log.delivered.last { $0.header.sequence == 12 }?.header)
        #expect(header.payloadType == 96 && header.hasMarker && header.ssrc == 0xBA9D_A416 && header.timestamp == 2)
        #expect(header.payload.count == 2)
        #expect(log.delivered.allSatisfy { $0.lostBefore == 0 })
        let statistics = log.receiver.statistics
        #expect(statistics.recovered == 2 && statistics.lost == 0 && statistics.received == 4)
        // Reports cover only packets that were not retransmitted.
        #expect(log.receiver.quality.lost == 2)
    }

    @Test("A packet that arrives without a request is not requested")
    func reordered() {
        var log = Self.log()
        log.receive(10, at: 0)
        log.receive(12, at: 1)
        #expect(log.receive(11, at: 2) == [11, 12])
        #expect(log.receiver.requestDeadline == nil)
        #expect(log.receiver.statistics.recovered == 0 && log.receiver.statistics.reordered == 1)
    }

    @Test("A packet is requested five times at most, and given up after two round trips")
    func givenUp() {
        var log = Self.log()
        log.receive(10, at: 0)
        log.receive(12, at: 1)
        // Two answers that take 75 ms each, and the time for reordering.
        #expect(log.receiver.deadline == PacketScript.time(1 + 3 + 2 * 78))
        var requests: [Int64] = []
        for time in 1...500 where !Self.due(&log, at: Int64(time)).isEmpty { requests.append(Int64(time)) }
        #expect(requests == [4, 79, 154, 229, 304])
        #expect(log.release(at: 160) == [12])
        #expect(log.receiver.statistics.lost == 1)
        #expect(log.receiver.requestDeadline == nil)
        // The answer is then late.
        #expect(log.receive(Self.repeated(11), at: 170) == [])
        #expect(log.receiver.statistics.late == 1)
    }

    @Test("Answers that take 10 ms shorten the wait for the next packet")
    func roundTrip() {
        var log = Self.log()
        var sequence: UInt16 = 0
        for step in 0..<20 {
            let time = Int64(step) * 100
            log.receive(sequence, at: time)
            log.receive(sequence + 2, at: time)
            #expect(Self.due(&log, at: time + 3) == [sequence + 1])
            #expect(log.receive(Self.repeated(sequence + 1), at: time + 13) == [sequence + 1, sequence + 2])
            sequence += 3
        }
        log.receive(sequence + 1, at: 3000)
        #expect(log.receiver.deadline == PacketScript.time(3000 + 3 + 2 * 18))
    }

    @Test("A sender that never answers is no longer asked, and packets wait as without retransmission")
    func useless() {
        var log = Self.log()
        var sequence: UInt16 = 0
        for step in 0..<50 {
            let time = Int64(step) * 1000
            log.receive(sequence, timestamp: UInt32(step), at: time)
            log.receive(sequence + 2, timestamp: UInt32(step), at: time)
            #expect(Self.due(&log, at: time + 3) == [sequence + 1])
            log.release(at: time + 500)
            sequence += 3
        }
        #expect(log.receiver.statistics.lost == 50)
        log.receive(sequence + 1, at: 100_000)
        #expect(log.receiver.requestDeadline == nil)
        #expect(log.receiver.deadline == PacketScript.time(100_030))
    }

    @Test("A repeated packet that was not missed, is too short or arrives first changes nothing")
    func strangers() {
        var log = Self.log()
        #expect(log.receive(Self.repeated(5), at: 0) == [])
        log.receive(10, at: 0)
        for sequence: UInt16 in [9, 10, 11, 12, 500, 40_000] {
            #expect(log.receive(Self.repeated(sequence), at: 1) == [])
        }
        #expect(log.receive(Array(PacketScript.packet(1, type: 97, size: 0)[..<12]), at: 1) == [])
        #expect(log.receive(11, at: 2) == [11])
        #expect(log.receiver.statistics.foreignSource == 0 && log.receiver.statistics.recovered == 0)
        // Without an offer, such packets are of an unknown format.
        var plain = ReceiverLog { $0.payloadTypes = [96] }
        plain.receive(10, at: 0)
        plain.receive(Self.repeated(11), at: 1)
        #expect(plain.receiver.statistics.wrongPayloadType == 1)
    }

    @Test("A sender that repeats the packets themselves gets requests, too")
    func sameStream() {
        var log = Self.log(nil)
        log.receive(10, at: 0)
        log.receive(12, at: 1)
        #expect(Self.due(&log, at: 4) == [11])
        #expect(log.receive(11, at: 9) == [11, 12])
        #expect(log.receiver.statistics.recovered == 1)
    }

    @Test("A transport that keeps the order requests nothing")
    func ordered() {
        var log = ReceiverLog {
            $0.payloadTypes = [96]
            $0.isOrdered = true
            $0.retransmission = Retransmission(Self.stream, time: .milliseconds(500))
        }
        log.receive(10, at: 0)
        #expect(log.receive(12, at: 1) == [12])
        #expect(log.receiver.requestDeadline == nil && Self.due(&log, at: 100) == [])
    }

    @Test("A restart forgets the missing packets")
    func restart() {
        var log = Self.log()
        log.receive(10, at: 0)
        log.receive(12, at: 1)
        log.receiver.reset()
        #expect(log.receiver.requestDeadline == nil)
        #expect(log.receive(500, at: 2) == [500])
    }
}

import InletCore
import InletRTP
import Testing

/// The scenarios and numbers are those of gortsplib (MIT), pkg/rtpreceiver/receiver_test.go.
@Suite struct ReceptionReportTests {
    private static func report(
        _ packets: [(sequence: UInt16, timestamp: UInt32, second: Int64)], at second: Int64, isOrdered: Bool = true
    ) -> ReceptionReport? {
        var log = ReceiverLog { $0.isOrdered = isOrdered }
        for packet in packets {
            log.receive(packet.sequence, timestamp: packet.timestamp, at: packet.second * 1000)
        }
        let sender = SenderReport(
            ssrc: 0xBA9D_A416, time: NTPTime(value: 0xE363_887A_17CE_D916), timestamp: 0xAFB4_5733)
        return log.receiver.receptionReport(
            at: PacketScript.time(second * 1000), sender: (sender, PacketScript.time(0)))
    }

    private static func expected(
        highest: UInt32, delay: UInt32, jitter: UInt32 = 0, fraction: UInt8 = 0, lost: Int32 = 0
    ) -> ReceptionReport {
        var report = ReceptionReport(ssrc: 0xBA9D_A416)
        report.extendedHighestSequence = highest
        (report.lastSenderReport, report.delay) = (0x887A_17CE, delay * 65_536)
        (report.jitter, report.fractionLost, report.lost) = (jitter, fraction, lost)
        return report
    }

    private static let time: UInt32 = 0xAFB4_5733

    @Test("Nothing is reported before the first packet")
    func nothing() { #expect(Self.report([], at: 1) == nil) }

    @Test("Packets on time have no jitter", arguments: [true, false])
    func standard(_ isOrdered: Bool) {
        let packets =
            [(945, Self.time, 0), (946, Self.time, 0), (947, Self.time + 90_000, 1)] as [(UInt16, UInt32, Int64)]
        #expect(Self.report(packets, at: 2, isOrdered: isOrdered) == Self.expected(highest: 947, delay: 2))
    }

    @Test("The wrap of the sequence number is counted")
    func wrap() {
        let packets = [(0xFFFF, Self.time, 0), (0, Self.time, 0)] as [(UInt16, UInt32, Int64)]
        #expect(Self.report(packets, at: 1) == Self.expected(highest: 1 << 16, delay: 1))
    }

    @Test("A packet half a second late makes a sixteenth of that the jitter")
    func jitter() {
        let packets = [(946, Self.time, 0), (947, Self.time + 45_000, 1)] as [(UInt16, UInt32, Int64)]
        #expect(Self.report(packets, at: 2) == Self.expected(highest: 947, delay: 2, jitter: 45_000 / 16))
    }

    @Test("One packet lost of three")
    func loss() {
        let packets = [(288, Self.time, 0), (290, Self.time, 0)] as [(UInt16, UInt32, Int64)]
        #expect(Self.report(packets, at: 1) == Self.expected(highest: 290, delay: 1, fraction: 85, lost: 1))
    }

    @Test("Two packets lost of four, over the wrap")
    func lossOverWrap() {
        let packets = [(0xFFFF, Self.time, 0), (2, Self.time, 0)] as [(UInt16, UInt32, Int64)]
        #expect(
            Self.report(packets, at: 1) == Self.expected(highest: 1 << 16 | 2, delay: 1, fraction: 128, lost: 2))
    }

    @Test("The fraction lost counts from the previous report, and duplicates count as received")
    func fraction() {
        var log = ReceiverLog { $0.isOrdered = true }
        for sequence in [1, 2, 5, 6] as [UInt16] { log.receive(sequence) }
        #expect(log.receiver.receptionReport(at: PacketScript.time(0))?.fractionLost == UInt8(2 * 256 / 6))
        for sequence in [7, 7, 7] as [UInt16] { log.receive(sequence) }
        let second = log.receiver.receptionReport(at: PacketScript.time(0))
        #expect(second?.fractionLost == 0)
        #expect(second?.lost == 0)
    }

    @Test("A report of another sender is not answered")
    func foreignSender() {
        var log = ReceiverLog()
        log.receive(1)
        let sender = SenderReport(ssrc: 1, time: NTPTime(value: 0xE363_887A_17CE_D916), timestamp: 0)
        let report = log.receiver.receptionReport(
            at: PacketScript.time(5), sender: (sender, PacketScript.time(0)))
        #expect(report?.lastSenderReport == 0)
        #expect(report?.delay == 0)
    }

    @Test("A delay over 32 bits and a negative one are clamped")
    func delay() {
        let start = PacketScript.time(0)
        #expect(ReceptionReport.delay(from: start, to: .distantFuture) == .max)
        #expect(ReceptionReport.delay(from: .distantFuture, to: start) == 0)
        #expect(ReceptionReport.delay(from: start, to: start + .milliseconds(5250)) == 0x0005_4000)
    }
}

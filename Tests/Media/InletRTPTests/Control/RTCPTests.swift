import InletCore
import InletRTP
import Testing

/// The packets are those of pion/rtcp (MIT): packet_test.go, sender_report_test.go and goodbye_test.go; and of
/// gortsplib (MIT): pkg/rtcpunmarshaler/rtcpunmarshaler_test.go.
@Suite struct RTCPTests {
    private static func read(_ bytes: [UInt8]) -> (items: [RTCP.Item], isValid: Bool) {
        var items: [RTCP.Item] = []
        let isValid = unsafe RTCP.read(bytes.span.bytes) { items.append($0) }
        return (items, isValid)
    }

    static let senderReport: [UInt8] = [
        0x81, 0xC8, 0x00, 0x0C, 0x90, 0x2F, 0x9E, 0x2E, 0xDA, 0x8B, 0xD1, 0xFC, 0xDD, 0xDD, 0xA0, 0x5A,
        0xAA, 0xF4, 0xED, 0xD5, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02,
        0xBC, 0x5E, 0x9A, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x46, 0xE1, 0x00, 0x00, 0x01, 0x11,
        0x09, 0xF3, 0x64, 0x32, 0x00, 0x02, 0x4A, 0x79,
    ]

    private static let report = SenderReport(
        ssrc: 0x902F_9E2E, time: NTPTime(value: 0xDA8B_D1FC_DDDD_A05A), timestamp: 0xAAF4_EDD5, packets: 1, bytes: 2)

    @Test("A sender report with a report block is read")
    func senderReport() {
        let (items, isValid) = Self.read(Self.senderReport)
        #expect(items == [.senderReport(Self.report)])
        #expect(isValid)
        #expect(Self.report.shortNTPTime == 0xD1FC_DDDD)
    }

    @Test("A report block that is missing or cut off does not spoil a sender report", arguments: [28, 36, 51])
    func truncatedBlock(_ size: Int) {
        let (items, isValid) = Self.read(Array(Self.senderReport.prefix(size)))
        #expect(items == [.senderReport(Self.report)])
        #expect(!isValid)
    }

    @Test("A sender report without its last field is not used", arguments: 4..<28)
    func truncated(_ size: Int) {
        #expect(Self.read(Array(Self.senderReport.prefix(size))).items == [.other(type: 200)])
    }

    /// realPacket() of packet_test.go: a receiver report, a source description, a goodbye, two requests, and an
    /// application's own packet.
    private static let dump: [UInt8] =
        [
            0x81, 0xC9, 0x00, 0x07, 0x90, 0x2F, 0x9E, 0x2E, 0xBC, 0x5E, 0x9A, 0x40, 0x00, 0x00, 0x00, 0x00,
            0x00, 0x00, 0x46, 0xE1, 0x00, 0x00, 0x01, 0x11, 0x09, 0xF3, 0x64, 0x32, 0x00, 0x02, 0x4A, 0x79,
            0x81, 0xCA, 0x00, 0x0C, 0x90, 0x2F, 0x9E, 0x2E, 0x01, 0x26,
        ] + Array("{9c00eb92-1afb-9d49-a47d-91f64eee69f5}".utf8) + [
            0x00, 0x00, 0x00, 0x00, 0x81, 0xCB, 0x00, 0x01, 0x90, 0x2F, 0x9E, 0x2E,
            0x81, 0xCE, 0x00, 0x02, 0x90, 0x2F, 0x9E, 0x2E, 0x90, 0x2F, 0x9E, 0x2E,
            0x85, 0xCD, 0x00, 0x02, 0x90, 0x2F, 0x9E, 0x2E, 0x90, 0x2F, 0x9E, 0x2E,
            0x80, 0xCC, 0x00, 0x03, 0x4B, 0xAA, 0xE1, 0xAB, 0x4E, 0x41, 0x4D, 0x45, 0x41, 0x42, 0x43, 0x44,
        ]

    @Test("A compound packet is read part by part")
    func compound() {
        let (items, isValid) = Self.read(Self.dump)
        #expect(
            items == [
                .other(type: 201), .other(type: 202), .goodbye(ssrc: 0x902F_9E2E), .other(type: 206),
                .other(type: 205), .other(type: 204),
            ])
        #expect(isValid)
    }

    /// A Hanwha QNV-8080R.
    @Test("A source description without its terminator does not spoil the sender report before it")
    func missingTerminator() {
        let bytes: [UInt8] = [
            0x80, 0xC8, 0x00, 0x06, 0x00, 0x0B, 0x7F, 0xD5, 0x12, 0x34, 0x56, 0x78, 0x90, 0xAB, 0xCD, 0xEF,
            0x00, 0x00, 0xD4, 0x50, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x04,
            0x81, 0xCA, 0x00, 0x03, 0x11, 0x22, 0x33, 0x44, 0x01, 0x06, 0x63, 0x61, 0x6D, 0x65, 0x72, 0x61,
        ]
        let report = SenderReport(
            ssrc: 753_621, time: NTPTime(value: 0x1234_5678_90AB_CDEF), timestamp: 54_352, packets: 1, bytes: 4)
        #expect(Self.read(bytes).items == [.senderReport(report), .other(type: 202)])
        #expect(Self.read(bytes.dropLast(3)).items == [.senderReport(report), .other(type: 202)])
    }

    private static let goodbyes: [([UInt8], [RTCP.Item])] = [
        ([0x80, 0xCB, 0x00, 0x00], []),
        ([0x81, 0xCB, 0x00, 0x02, 0x90, 0x2F, 0x9E, 0x2E, 3, 0x46, 0x4F, 0x4F], [.goodbye(ssrc: 0x902F_9E2E)]),
        ([0x82, 0xCB, 0x00, 0x02, 0, 0, 0, 1, 0, 0, 0, 2], [.goodbye(ssrc: 1), .goodbye(ssrc: 2)]),
        ([0x9F, 0xCB, 0x00, 0x01, 0, 0, 0, 1], [.goodbye(ssrc: 1)]),
    ]

    @Test("A goodbye names as many sources as it has room for", arguments: goodbyes)
    func goodbye(_ bytes: [UInt8], _ items: [RTCP.Item]) {
        #expect(Self.read(bytes).items == items)
    }

    /// Seeds of pion/rtcp's fuzz test, and invalid packets.
    private static let invalid: [[UInt8]] = [
        [], [0x30], [0x81, 0xC9, 0x00, 0x64], [0x00, 0x00, 0x00, 0x00], [0x80, 0x60, 0x00, 0x00],
        Array("\u{0F}".utf8) + [0xCD, 0x00, 0x20] + [UInt8](repeating: 0x30, count: 16),
        [0xAF, 0xCD, 0x00, 0x07] + [UInt8](repeating: 0x30, count: 16),
    ]

    @Test("A packet that is not RTCP, or whose length exceeds it, is invalid", arguments: invalid)
    func isInvalid(_ bytes: [UInt8]) {
        #expect(!Self.read(bytes).isValid)
    }

    @Test("RTCP is distinguished from RTP by its second byte (RFC 5761, section 4)")
    func classification() {
        let control = (0...255).filter { RTCP.isControl(secondByte: $0) }
        #expect(control == Array(192...195) + Array(200...210))
        #expect(unsafe RTCP.isControl(Self.dump.span.bytes))
        let packet = PacketScript.packet(1, type: 0x80 | 96)
        #expect(unsafe !RTCP.isControl(packet.span.bytes))
    }

    @Test("Any bytes are read without a crash, and goodbyes and reports lie within them")
    func mutated() {
        var random = SplitMix64(seed: 11)
        for _ in 0..<5000 {
            var bytes = random.next() % 2 == 0 ? Self.dump : Self.senderReport + Self.dump
            for _ in 0..<1 + random.next() % 8 {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            bytes = Array(bytes.prefix(Int(random.next() % UInt64(bytes.count + 1))))
            let (items, isValid) = Self.read(bytes)
            #expect(items.count <= bytes.count / 4)
            #expect(!isValid || bytes.count % 4 == 0)
        }
    }
}

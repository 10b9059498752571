import InletCore
import InletRTP
import Testing

@Suite struct RTCPWriterTests {
    private static func written(
        _ writer: inout RTCPWriter, _ report: ReceptionReport?, _ requests: RTCPWriter.KeyFrameRequests = [],
        missing: [UInt16] = [], to source: UInt32? = nil
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        writer.append(report: report, requests: requests, missing: missing, to: source, into: &bytes)
        return bytes
    }

    /// The first 84 bytes of realPacket() in packet_test.go of pion/rtcp (MIT), a packet dump. The dump has one word of
    /// zeros too many after the name; it is left out here, also from the length.
    @Test("A report and the canonical name are written as in a packet dump")
    func report() {
        var writer = RTCPWriter(
            ssrc: 0x902F_9E2E, name: Array("{9c00eb92-1afb-9d49-a47d-91f64eee69f5}".utf8))
        var report = ReceptionReport(ssrc: 0xBC5E_9A40)
        report.extendedHighestSequence = 0x46E1
        report.jitter = 273
        report.lastSenderReport = 0x9F3_6432
        report.delay = 150_137
        #expect(
            Self.written(&writer, report) == [
                0x81, 0xC9, 0x00, 0x07, 0x90, 0x2F, 0x9E, 0x2E, 0xBC, 0x5E, 0x9A, 0x40, 0x00, 0x00, 0x00, 0x00,
                0x00, 0x00, 0x46, 0xE1, 0x00, 0x00, 0x01, 0x11, 0x09, 0xF3, 0x64, 0x32, 0x00, 0x02, 0x4A, 0x79,
                0x81, 0xCA, 0x00, 0x0C, 0x90, 0x2F, 0x9E, 0x2E, 0x01, 0x26,
            ] + Array("{9c00eb92-1afb-9d49-a47d-91f64eee69f5}".utf8) + [0, 0, 0, 0])
    }

    /// The layouts are those of RFC 4585, section 6.3.1, and RFC 5104, section 4.3.1.1; the numbers are pion/rtcp's.
    @Test("Requests for key frames follow the report, and each full intra request has a new number")
    func requests() {
        var writer = RTCPWriter(ssrc: 1, name: [])
        let head: [UInt8] = [0x80, 0xC9, 0, 1, 0, 0, 0, 1, 0x81, 0xCA, 0, 2, 0, 0, 0, 1, 1, 0, 0, 0]
        let loss: [UInt8] = [0x81, 0xCE, 0, 2, 0, 0, 0, 1, 0x4B, 0xC4, 0xFC, 0xB4]
        let intra: [UInt8] = [0x84, 0xCE, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0x4B, 0xC4, 0xFC, 0xB4]
        #expect(Self.written(&writer, nil, .pictureLoss, to: 0x4BC4_FCB4) == head + loss)
        #expect(
            Self.written(&writer, nil, [.pictureLoss, .fullIntra], to: 0x4BC4_FCB4)
                == head + loss + intra + [0, 0, 0, 0])
        #expect(Self.written(&writer, nil, .fullIntra, to: 0x4BC4_FCB4) == head + intra + [1, 0, 0, 0])
        #expect(Self.written(&writer, nil, .fullIntra) == head)
    }

    /// The layout is that of RFC 4585, section 6.2.1; the fields are those of TestNackPair in pion/rtcp (MIT),
    /// transport_layer_nack_test.go.
    @Test("Each field of a negative acknowledgement names a packet and any of the 16 after it")
    func negativeAcknowledgement() {
        var writer = RTCPWriter(ssrc: 1, name: [])
        let head: [UInt8] = [0x80, 0xC9, 0, 1, 0, 0, 0, 1, 0x81, 0xCA, 0, 2, 0, 0, 0, 1, 1, 0, 0, 0]
        let cases: [([UInt16], [UInt8])] = [
            ([42], [0, 42, 0, 0]), ([42, 43, 44], [0, 42, 0, 3]), ([42, 58], [0, 42, 0x80, 0]),
            ([42, 59], [0, 42, 0, 0, 0, 59, 0, 0]),
            ([100, 102, 103, 130], [0, 100, 0, 6, 0, 130, 0, 0]), ([65_535, 0, 1], [0xFF, 0xFF, 0, 3]),
        ]
        for (missing, fields) in cases {
            let words = UInt8(2 + fields.count / 4)
            let part: [UInt8] = [0x81, 0xCD, 0, words, 0, 0, 0, 1, 0x4B, 0xC4, 0xFC, 0xB4] + fields
            #expect(Self.written(&writer, nil, missing: missing, to: 0x4BC4_FCB4) == head + part)
        }
        #expect(Self.written(&writer, nil, missing: [42]) == head)
    }

    @Test("A name of any length is written in whole words with at least one zero after it", arguments: 0...300)
    func name(_ count: Int) {
        var writer = RTCPWriter(ssrc: 1, name: [UInt8](repeating: 0x61, count: count))
        let bytes = Self.written(&writer, nil)
        let part = Array(bytes.dropFirst(8))
        #expect(part.count == 4 * (Int(part[2]) << 8 + Int(part[3]) + 1))
        #expect(Int(part[9]) == min(count, 255))
        #expect(part.dropFirst(10).prefix(min(count, 255)).allSatisfy { $0 == 0x61 })
        let padding = part.dropFirst(10 + min(count, 255))
        #expect((1...4).contains(padding.count))
        #expect(padding.allSatisfy { $0 == 0 })
        var types: [RTCP.Item] = []
        #expect(unsafe RTCP.read(bytes.span.bytes) { types.append($0) })
        #expect(types == [.other(type: 201), .other(type: 202)])
    }

    @Test(
        "The number of lost packets is clamped to 24 bits",
        arguments: [
            (5, [0, 0, 5]), (-1, [0xFF, 0xFF, 0xFF]), (.max, [0x7F, 0xFF, 0xFF]), (.min, [0x80, 0, 0]),
        ] as [(Int32, [UInt8])])
    func lost(_ count: Int32, _ expected: [UInt8]) {
        var writer = RTCPWriter(ssrc: 1, name: [])
        var report = ReceptionReport(ssrc: 2)
        report.lost = count
        report.fractionLost = 9
        let bytes = Self.written(&writer, report)
        #expect(Array(bytes[12..<16]) == [9] + expected)
    }

    @Test("The packets that open the return path through a firewall are a bare header and a bare report")
    func emptyPackets() {
        let writer = RTCPWriter(ssrc: 0x0102_0304, name: [1])
        var bytes: [UInt8] = []
        writer.appendEmptyPacket(payloadType: 96, into: &bytes)
        writer.appendEmptyReport(into: &bytes)
        #expect(bytes == [0x80, 96, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0x80, 0xC9, 0, 1, 1, 2, 3, 4])
    }
}

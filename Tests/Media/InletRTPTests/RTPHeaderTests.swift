import InletRTP
import Testing

@Suite struct RTPHeaderTests {
    private static let plain: [UInt8] = [
        0x80, 0xE0, 0x12, 0x34, 0x00, 0x01, 0x02, 0x03, 0xAA, 0xBB, 0xCC, 0xDD, 0x65, 0x88,
    ]

    private static func header(_ bytes: [UInt8]) -> RTPHeader? { unsafe RTPHeader(bytes.span.bytes) }

    @Test func plain() {
        #expect(
            Self.header(Self.plain)
                == RTPHeader(
                    hasMarker: true, payloadType: 96, sequence: 0x1234, timestamp: 0x0001_0203, ssrc: 0xAABB_CCDD,
                    payload: 12..<14))
    }

    @Test func contributingSourcesExtensionAndPadding() throws {
        var bytes = Self.plain
        bytes[0] = 0x80 | 0x20 | 0x10 | 2
        bytes.removeLast(2)
        bytes += [UInt8](repeating: 7, count: 8)
        bytes += [0xAB, 0xAC, 0, 1, 1, 2, 3, 4]
        bytes += [0x65, 0x88, 0x84, 0, 0, 3]
        let header = try #require(Self.header(bytes))
        #expect(header.payload == 28..<31)
        #expect(header.headerExtension?.profile == 0xABAC)
        #expect(header.headerExtension?.bytes == 24..<28)
    }

    private static let inconsistent: [[UInt8]] = [
        [],
        Array(plain.prefix(11)),
        changed(0x40),
        changed(0x8F),
        changed(0x90),
        changed(0x90, end: [0, 0, 0xFF, 0xFF]),
        changed(0xA0, end: [0]),
        changed(0xA0, end: [3]),
    ]

    private static func changed(_ first: UInt8, end: [UInt8] = []) -> [UInt8] {
        [first] + Array(plain.dropFirst().dropLast(end.isEmpty ? 0 : 1)) + end
    }

    @Test("A header that states more than the packet holds", arguments: inconsistent)
    func isRejected(_ bytes: [UInt8]) {
        #expect(Self.header(bytes) == nil)
    }
}

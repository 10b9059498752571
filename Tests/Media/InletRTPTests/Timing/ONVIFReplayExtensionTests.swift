import InletRTP
import Testing

/// The layout is that of the ONVIF Streaming Specification ("RTP header extension" of "Playback"); the values are those
/// that GStreamer's tests of rtponviftimestamp use (gst-plugins-bad).
@Suite struct ONVIFReplayExtensionTests {
    private static func read(_ content: [UInt8], profile: UInt16 = 0xABAC) -> ONVIFReplayExtension? {
        var bytes = PacketScript.packet(1)
        bytes[0] |= 0x10
        bytes.insert(
            contentsOf: [UInt8(profile >> 8), UInt8(profile & 0xFF), 0, UInt8(content.count / 4)] + content, at: 12)
        guard let header = unsafe RTPHeader(bytes.span.bytes) else { return nil }
        return unsafe ONVIFReplayExtension(header, of: bytes.span.bytes)
    }

    private static func content(_ flags: UInt8) -> [UInt8] {
        [0xDA, 0x8B, 0xD1, 0xFC, 0xDD, 0xDD, 0xA0, 0x5A, flags, 0x78, 0, 0]
    }

    @Test(
        "Time and flags are read",
        arguments: [
            (0x80, [true, false, false]), (0x40, [false, true, false]), (0x20, [false, false, true]),
            (0x10, [false, false, false]), (0xEF, [true, true, true]),
        ] as [(UInt8, [Bool])])
    func flags(_ flags: UInt8, _ expected: [Bool]) throws {
        let replay = try #require(Self.read(Self.content(flags)))
        #expect(replay.time == NTPTime(value: 0xDA8B_D1FC_DDDD_A05A))
        #expect([replay.isCleanPoint, replay.isEndOfSection, replay.isDiscontinuity] == expected)
    }

    @Test("Other and shorter extensions are ignored")
    func others() {
        #expect(Self.read(Self.content(0), profile: 0xFFD8) == nil)
        #expect(Self.read([]) == nil)
        #expect(Self.read(Array(Self.content(0).dropLast(4))) == nil)
    }

    @Test("The extension of JPEG may follow, and a truncated one is ignored", arguments: [1, 2] as [UInt8])
    func further(_ words: UInt8) throws {
        var bytes = PacketScript.packet(1)
        bytes[0] |= 0x10
        bytes.insert(contentsOf: [0xAB, 0xAC, 0, 5] + Self.content(0) + [0xFF, 0xD8, 0, words, 1, 2, 3, 4], at: 12)
        let header = try #require(unsafe RTPHeader(bytes.span.bytes))
        let found = unsafe ONVIFReplayExtension.furtherExtension(header, of: bytes.span.bytes)
        #expect(found?.profile == (words == 1 ? 0xFFD8 : nil))
        #expect(found?.bytes == (words == 1 ? 32..<36 : nil))
        bytes[12] = 0xFF
        let other = try #require(unsafe RTPHeader(bytes.span.bytes))
        #expect(unsafe ONVIFReplayExtension.furtherExtension(other, of: bytes.span.bytes) == nil)
    }
}

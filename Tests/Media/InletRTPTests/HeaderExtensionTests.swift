import InletCore
import InletRTP
import Testing

/// Elements of header extensions by RFC 8285, and the rotation among them.
@Suite struct HeaderExtensionTests {
    /// A packet with a header extension and one byte of payload.
    private static func packet(_ profile: UInt16, _ data: [UInt8]) -> [UInt8] {
        let padded = data + Array(repeating: 0, count: (4 - data.count % 4) % 4)
        return [0x90, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, UInt8(profile >> 8), UInt8(profile & 255), 0]
            + [UInt8(padded.count / 4)] + padded + [7]
    }

    private static func element(_ number: Int, _ bytes: [UInt8]) -> [UInt8]? {
        let span = bytes.rawBytes
        guard let header = RTPHeader(span), let place = HeaderExtension.element(number, header, of: span)
        else { return nil }
        return Array(bytes[place])
    }

    @Test("Elements are found in both forms, after others and after padding; a truncated one is ignored")
    func elements() {
        let table: [(UInt16, [UInt8], Int, [UInt8]?)] = [
            (0xBEDE, [0x10, 9], 1, [9]), (0xBEDE, [0x12, 1, 2, 3, 0x20, 8], 2, [8]),
            (0xBEDE, [0, 0, 0x20, 8], 2, [8]), (0xBEDE, [0x10, 9], 2, nil),
            // Longer than the extension.
            (0xBEDE, [0x1F, 1, 2, 3], 1, nil),
            // After the number 15 nothing is read.
            (0xBEDE, [0xF0, 1, 0x20, 8], 2, nil),
            (0x1000, [1, 1, 9], 1, [9]), (0x100F, [1, 0, 2, 2, 5, 6], 2, [5, 6]), (0x1000, [1, 0], 1, []),
            (0x1000, [0, 0, 0, 1], 1, nil), (0x1000, [1, 3, 1, 2], 1, nil),
            (0xABAC, [0x10, 9], 1, nil),
        ]
        for (profile, data, number, expected) in table {
            #expect(Self.element(number, Self.packet(profile, data)) == expected, "\(profile) \(data)")
        }
    }

    @Test("Random extensions are read without a trap, and no element lies outside")
    func random() {
        var random = SplitMix64(seed: 5)
        for _ in 0..<4000 {
            let count = Int(random.next() % 24)
            let data = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            let profile: UInt16 = random.next() % 2 == 0 ? 0xBEDE : 0x1000
            let bytes = Self.packet(profile, data)
            guard let header = RTPHeader(bytes.rawBytes), let (_, whole) = header.headerExtension else { continue }
            for number in 1...15 {
                guard let place = HeaderExtension.element(number, header, of: bytes.rawBytes) else { continue }
                #expect(place.lowerBound >= whole.lowerBound && place.upperBound <= whole.upperBound)
            }
        }
    }

    private static func rotation(_ number: Int, _ bytes: [UInt8]) -> Rotation? {
        let span = bytes.rawBytes
        return RTPHeader(span).flatMap { VideoOrientation.rotation(number, $0, of: span) }
    }

    @Test("The rotation is that of the last two bits, whatever the camera and mirroring bits are")
    func rotation() {
        let turns: [Rotation] = [.none, .clockwise90, .clockwise180, .clockwise270]
        for (quarters, expected) in turns.enumerated() {
            for others: UInt8 in [0, 0x08, 0x04, 0x0C] {
                let bytes = Self.packet(0xBEDE, [0x30, UInt8(quarters) | others])
                #expect(Self.rotation(3, bytes) == expected)
                #expect(Self.rotation(4, bytes) == nil)
            }
        }
        #expect(Self.rotation(3, Self.packet(0xBEDE, [0x31, 1, 0])) == nil)
    }
}

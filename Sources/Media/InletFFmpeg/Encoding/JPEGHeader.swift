package import InletCore

// Unsafe: reads bytes at checked offsets.
/// Reads what a JPEG (ITU-T T.81) states before its data.
package enum JPEGHeader {
    /// Returns the size of the picture, from its frame header; nil if the header is absent. If the packet has two
    /// fields, the size is that of the frame.
    package static func size(in bytes: RawSpan) -> ImageSize? {
        guard var size = codedSize(in: bytes) else { return nil }
        if fieldOrder(in: bytes) != .progressive { size.height *= 2 }
        return size
    }

    /// Returns the order of two fields in a packet, each a JPEG, as RTP's payloads are joined: an AVI1 segment with the
    /// polarity of the first one follows the JFIF segment. Whatever else writes such a segment puts it first.
    package static func fieldOrder(in bytes: RawSpan) -> FieldOrder {
        let place = 20
        guard bytes.byteCount > place + 8 else { return .progressive }
        func word(_ index: Int) -> UInt32 {
            UInt32(bigEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt32.self))
        }
        // SOI and APP0; APP0 of 16 bytes; "AVI1".
        guard word(0) == 0xFFD8_FFE0, word(place) == 0xFFE0_0010, word(place + 4) == 0x4156_4931 else {
            return .progressive
        }
        // The polarity counts rows from 1.
        return switch unsafe bytes.unsafeLoad(fromByteOffset: place + 8, as: UInt8.self) {
        case 1: .topFirst
        case 2: .bottomFirst
        default: .progressive
        }
    }

    private static func codedSize(in bytes: RawSpan) -> ImageSize? {
        func byte(_ index: Int) -> UInt8? {
            index < bytes.byteCount ? unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self) : nil
        }
        func word(_ index: Int) -> Int? {
            guard let high = byte(index), let low = byte(index + 1) else { return nil }
            return Int(high) << 8 | Int(low)
        }
        guard word(0) == 0xFFD8 else { return nil }
        var place = 2
        while let mark = byte(place), let kind = byte(place + 1) {
            guard mark == 0xFF else { return nil }
            switch kind {
            // Any number of FF bytes may precede a marker.
            case 0xFF: place += 1
            // Markers without a segment (section B.1.1.3): TEM, RST and SOI.
            case 0x01, 0xD0...0xD8: place += 2
            // SOF, of any process (table B.1); C4, C8 and CC are others.
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                guard let height = word(place + 5), let width = word(place + 7) else { return nil }
                return ImageSize(width: width, height: height)
            // The data begins, or the picture ends.
            case 0xDA, 0xD9: return nil
            default:
                guard let length = word(place + 2), length >= 2 else { return nil }
                place += 2 + length
            }
        }
        return nil
    }
}

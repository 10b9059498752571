package import InletCore

// Unsafe: reads bytes at checked offsets.
/// Reads what a JPEG (ITU-T T.81) states before its data.
package enum JPEGHeader {
    /// Returns the size of the picture, from its frame header; nil if there is none.
    package static func size(in bytes: RawSpan) -> ImageSize? {
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

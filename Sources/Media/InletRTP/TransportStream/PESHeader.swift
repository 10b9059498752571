/// The header of a PES packet (ISO/IEC 13818-1, section 2.4.3.6).
struct PESHeader {
    /// The bytes of the packet after the header; nil if the header does not state them, as it may for video.
    var size: Int?
    /// The offset of the packet's content.
    var end: Int
    /// The presentation time in ticks of 90 kHz, of 33 bits; nil if it is not stated.
    var presentationTime: UInt64?
    var isScrambled: Bool

    /// The most bytes that a header has.
    static let largest = 9 + 255

    /// The result of reading the first bytes of a PES packet.
    enum Result {
        case header(PESHeader)
        /// More bytes are needed.
        case incomplete
        /// The bytes are not a PES packet, or one without the usual header.
        case invalid
    }

    /// Reads the first bytes of a PES packet.
    static func read(_ bytes: RawSpan) -> Result {
        for index in 0..<min(3, bytes.byteCount) where bytes[index] != (index == 2 ? 1 : 0) { return .invalid }
        guard bytes.byteCount >= 9 else { return .incomplete }
        // Such as padding and private streams, table 2-21: they have no such header.
        guard ![0xBC, 0xBE, 0xBF, 0xF0, 0xF1, 0xF2, 0xF8, 0xFF].contains(bytes[3]), bytes[6] & 0xC0 == 0x80 else {
            return .invalid
        }
        let end = 9 + Int(bytes[8])
        guard bytes.byteCount >= end else { return .incomplete }
        let stated = Int(bytes.bigEndian16(at: 4))
        let size = stated - (end - 6)
        var header = PESHeader(
            size: stated > 0 && size >= 0 ? size : nil, end: end, isScrambled: bytes[6] & 0x30 != 0)
        if bytes[7] & 0x80 != 0, end >= 14 { header.presentationTime = time(bytes, at: 9) }
        return .header(header)
    }

    /// Returns the time of five bytes; nil if one of its marker bits is missing.
    private static func time(_ bytes: RawSpan, at place: Int) -> UInt64? {
        let (first, middle, last) = (
            bytes[place], bytes.bigEndian16(at: place + 1), bytes.bigEndian16(at: place + 3)
        )
        guard first & 1 == 1, middle & 1 == 1, last & 1 == 1 else { return nil }
        return UInt64(first >> 1 & 7) << 30 | UInt64(middle >> 1) << 15 | UInt64(last >> 1)
    }
}

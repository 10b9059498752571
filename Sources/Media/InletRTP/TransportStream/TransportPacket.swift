/// A packet of an MPEG transport stream: its header and adaptation field (ISO/IEC 13818-1, sections 2.4.3.2 to
/// 2.4.3.5), and where its payload lies.
struct TransportPacket {
    static let size = 188
    static let syncByte: UInt8 = 0x47
    /// The packet identifier of packets without content.
    static let nullPID = 0x1FFF

    /// The packet identifier (PID), of 13 bits.
    var pid: Int
    /// Whether a PES packet, or a section, begins in the payload: `payload_unit_start_indicator`.
    var startsUnit: Bool
    var isScrambled: Bool
    /// The continuity counter, of 4 bits. It counts packets with a payload.
    var counter: Int
    /// The payload; empty if the packet has no payload.
    var payload: Range<Int>
    /// Whether the sender states that the counter or the clock is discontinuous here.
    var hasDiscontinuity = false
    /// Whether the adaptation field has bytes for no other purpose than to fill the packet, which is needed only where
    /// the content of a PES packet ends.
    var isStuffed = false

    var hasPayload: Bool { !payload.isEmpty }

    /// Reads a packet.
    ///
    /// - Returns: nil if the bytes are not a packet, or the packet is marked as damaged.
    init?(_ bytes: RawSpan) {
        guard bytes.byteCount >= Self.size, bytes[0] == Self.syncByte, bytes[1] & 0x80 == 0 else { return nil }
        pid = Int(bytes[1] & 0x1F) << 8 | Int(bytes[2])
        startsUnit = bytes[1] & 0x40 != 0
        isScrambled = bytes[3] & 0xC0 != 0
        counter = Int(bytes[3] & 0x0F)
        let hasPayload = bytes[3] & 0x10 != 0
        var start = 4
        if bytes[3] & 0x20 != 0 {
            let length = Int(bytes[4])
            guard length <= (hasPayload ? 182 : 183) else { return nil }
            hasDiscontinuity = length > 0 && bytes[5] & 0x80 != 0
            isStuffed = length == 0 || length > Self.usedSize(bytes)
            start = 5 + length
        }
        payload = start..<(hasPayload ? Self.size : start)
    }

    /// Returns how many bytes of the adaptation field, after its length, its stated fields need.
    private static func usedSize(_ bytes: RawSpan) -> Int {
        let (length, flags) = (Int(bytes[4]), bytes[5])
        // The clock and the original clock have six bytes, the countdown to a splice one.
        var size = 1 + (flags & 0x10 != 0 ? 6 : 0) + (flags & 0x08 != 0 ? 6 : 0) + (flags & 0x04 != 0 ? 1 : 0)
        // Private data and the extension each begin with their length.
        for flag in [UInt8(0x02), 0x01] where flags & flag != 0 {
            guard size < length else { return length }
            size += 1 + Int(bytes[5 + size])
        }
        return size
    }
}

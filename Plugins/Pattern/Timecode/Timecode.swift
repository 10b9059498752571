public import InletCore

/// The content of a ``TestPattern/timecode`` picture.
public struct Timecode: Sendable, Hashable {
    /// The frame's sequence number, modulo 2^32.
    public var frame: UInt32
    /// The time at which the frame was drawn, on the source's clock; with
    /// ``PatternConfiguration/Pace-swift.enum/unpaced``, the frame's PTS in nanoseconds.
    public var captureTime: MonotonicTime

    public init(frame: UInt32, captureTime: MonotonicTime) {
        self.frame = frame
        self.captureTime = captureTime
    }

    /// The 128 bits that the picture carries: frame number, nanoseconds and the CRC-32 of both, each with its most
    /// significant bit first.
    public var code: UInt128 {
        let payload = UInt128(frame) << 64 | UInt128(UInt64(bitPattern: captureTime.nanoseconds))
        return payload << 32 | UInt128(Self.checksum(payload))
    }

    /// Parses the 128 bits; nil if the checksum does not match.
    public init?(code: UInt128) {
        let payload = code >> 32
        guard UInt32(truncatingIfNeeded: code) == Self.checksum(payload) else { return nil }
        frame = UInt32(truncatingIfNeeded: payload >> 64)
        captureTime = MonotonicTime(nanoseconds: Int64(bitPattern: UInt64(truncatingIfNeeded: payload)))
    }

    /// CRC-32 as in IEEE 802.3, clause 3.2.9 (CRC-32/ISO-HDLC: reflected, polynomial 0x04C11DB7), over the 12 bytes
    /// from the most significant one.
    static func checksum(_ payload: UInt128) -> UInt32 {
        var remainder = UInt32.max
        for shift in stride(from: 88, through: 0, by: -8) {
            remainder ^= UInt32(UInt8(truncatingIfNeeded: payload >> UInt128(shift)))
            for _ in 0..<8 {
                remainder = remainder & 1 == 1 ? remainder >> 1 ^ 0xEDB8_8320 : remainder >> 1
            }
        }
        return ~remainder
    }
}

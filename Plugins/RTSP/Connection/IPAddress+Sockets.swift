import InletFFmpeg
import InletNetwork

extension IPAddress {
    /// The IPv4 address contained in an IPv6 address (RFC 4291, 2.5.5.2); otherwise the address itself.
    var unmapped: IPAddress {
        guard bytes.count == 16, bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF else {
            return self
        }
        return IPAddress(bytes: bytes.suffix(4)) ?? self
    }

    /// Whether connecting needs a ``zone`` that is not known: an address in fe80::/10 (RFC 4007, section 6).
    var needsZone: Bool { bytes.count == 16 && bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 && zone == 0 }
}

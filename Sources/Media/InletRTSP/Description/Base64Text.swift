import InletCore

/// Base64 (RFC 4648), as cameras write it.
enum Base64Text {
    /// Returns the decoded bytes; nil if there is a character that base64 does not have.
    ///
    /// Padding may be missing or too long, the alphabet of URLs is accepted, blanks are ignored, and a last character
    /// that completes no byte is dropped.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 3)
        var bits: UInt32 = 0
        var count = 0
        for byte in text {
            if byte == UInt8(ascii: "=") { break }
            if byte.isASCIISpace { continue }
            guard let value = value(of: byte) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
                bits &= 1 << UInt32(count) &- 1
            }
        }
        return bytes
    }

    /// Returns the text of the bytes, with padding.
    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var rest = bytes[...]
        while !rest.isEmpty {
            let group = rest.prefix(3)
            rest = rest.dropFirst(3)
            var bits: UInt32 = 0
            for byte in group { bits = bits << 8 | UInt32(byte) }
            bits <<= UInt32(8 * (3 - group.count))
            for place in 0..<4 {
                let value = Int(bits >> UInt32(18 - 6 * place) & 0x3F)
                text.append(place <= group.count ? alphabet[value] : UInt8(ascii: "="))
            }
        }
        return text
    }

    private static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}

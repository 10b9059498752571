/// Percent-encoding according to RFC 3986, section 2.1.
public enum PercentEncoding {
    /// Returns the text with every byte escaped except letters, digits and `-._~`, the characters that have no special
    /// meaning in any part of an address.
    public static func encode(_ text: some StringProtocol) -> String {
        text.utf8.reduce(into: "") { result, byte in
            result += isUnreserved(byte) ? String(UnicodeScalar(byte)) : encode(byte)
        }
    }

    /// Returns the escape of a byte, such as `%2F`.
    public static func encode(_ byte: UInt8) -> String {
        (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
    }

    /// Returns the address with characters that an address cannot contain escaped, and everything else unchanged,
    /// including its escapes.
    ///
    /// Foundation's `URL` takes such an address byte for byte; in an address that holds anything else it escapes the
    /// escapes, too.
    public static func complete(address: String) -> String {
        let bytes = Array(address.utf8)
        let slashes = bytes.firstRange(ofBytes: "//".utf8)?.upperBound ?? 0
        let path = bytes[slashes...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
        return bytes.indices.reduce(into: "") { result, index in
            let byte = bytes[index]
            let mayStand =
                switch byte {
                case UInt8(ascii: "%"): bytes[index...].dropFirst().prefix(2).compactMap(hexadecimalDigit).count == 2
                // Around an address of IPv6.
                case UInt8(ascii: "["), UInt8(ascii: "]"): index < path
                default: isUnreserved(byte) || ":/?#@!$&'()*+,;=".utf8.contains(byte)
                }
            result += mayStand ? String(UnicodeScalar(byte)) : encode(byte)
        }
    }

    /// Returns the text with each escape replaced by its byte. A % that does not begin an escape is unchanged, and
    /// invalid UTF-8 becomes U+FFFD.
    public static func decode(_ text: some StringProtocol) -> String {
        String(decoding: decode(bytes: text.utf8), as: UTF8.self)
    }

    static func decode(bytes: some Sequence<UInt8>) -> [UInt8] {
        var decoded: [UInt8] = []
        var rest = Array(bytes)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap(hexadecimalDigit)
            if byte == UInt8(ascii: "%"), digits.count == 2 {
                decoded.append(digits[0] << 4 | digits[1])
                rest = rest.dropFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        return decoded
    }

    static func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "-._~".utf8.contains(byte)
        }
    }
}

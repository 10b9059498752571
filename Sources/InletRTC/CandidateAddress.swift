/// Whether candidates say where they are, or name a host that hides it.
///
/// Browsers hide their addresses behind names of multicast DNS (draft-ietf-mmusic-mdns-ice-candidates). A name that anyone sends is not looked up here: a lookup
/// takes seconds where nothing answers, and GStreamer 1.22 keeps a session's agent, its thread and its sockets for good where the session ends during one.
/// The browser finds its way without: it asks at the addresses of this side, which sees from where.
public enum CandidateAddress {
    /// Whether the address of a `candidate:` line (RFC 8839, 5.1) is one of IPv4 or IPv6.
    public static func isNumeric(_ line: some StringProtocol) -> Bool {
        let words = line.split(separator: " ")
        guard words.count > 4 else { return false }
        let address = words[4].utf8
        let isDecimal = address.allSatisfy { $0 == UInt8(ascii: ".") || isDigit($0) }
        return isDecimal || (address.contains(UInt8(ascii: ":")) && address.allSatisfy(isPartOfIPv6))
    }

    /// A description without the candidates that name a host.
    public static func withoutNames(_ sdp: String) -> String {
        var kept: [Substring] = []
        for line in sdp.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            if !line.hasPrefix("a=candidate:") || isNumeric(line.dropFirst(2)) { kept.append(line) }
        }
        return kept.joined(separator: "\r\n")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isPartOfIPv6(_ byte: UInt8) -> Bool {
        isDigit(byte) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
}

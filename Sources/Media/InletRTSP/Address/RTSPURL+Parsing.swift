import InletCore

extension RTSPURL {
    /// The longest address that is read.
    private static let longest = 8192

    /// Reads an address and repairs it. See ``init(_:)``.
    init?(lenient text: [UInt8]) {
        guard text.count <= Self.longest else { return nil }
        var rest = TextBytes.trimmed(text)
        var isSecure: Bool?
        while let scheme = Self.scheme(of: rest) {
            guard let secure = scheme.isSecure else { return nil }
            // In rtsp://rtsps://host the inner scheme counts: the outer one was prepended to a complete address.
            isSecure = secure
            rest = rest[scheme.end...]
        }
        guard let split = Self.split(rest), let (written, port) = Self.hostAndPort(split.authority) else { return nil }
        var host = written
        let zone = Self.takeZone(&host)
        guard !host.isEmpty else { return nil }
        self.init(
            isSecure: isSecure ?? false, host: host, zone: zone, explicitPort: port,
            path: RTSPRequestWriter.escaped(Array(split.path)), credentials: split.credentials)
    }

    /// Whether a text begins with a scheme and `://`.
    static func isAbsolute(_ text: [UInt8]) -> Bool { scheme(of: text[...]) != nil }

    /// Returns the scheme of an address and the index after it; nil if the address has no scheme. `isSecure` is nil if
    /// the scheme is not RTSP's.
    private static func scheme(of text: ArraySlice<UInt8>) -> (isSecure: Bool?, end: Int)? {
        let name = text.prefix { $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0) }
        guard !name.isEmpty, text[name.endIndex...].starts(with: "://".utf8) else { return nil }
        let end = name.endIndex + 3
        if TextBytes.isSame(name, ignoringCase: "rtsp") { return (false, end) }
        if TextBytes.isSame(name, ignoringCase: "rtsps") { return (true, end) }
        return (nil, end)
    }

    private typealias Split = (
        authority: ArraySlice<UInt8>, path: ArraySlice<UInt8>, credentials: RTSPCredentials?
    )

    /// Separates credentials, host and path.
    private static func split(_ text: ArraySlice<UInt8>) -> Split? {
        let beforeQuery = text.prefix { $0 != UInt8(ascii: "?") }
        let authority = beforeQuery.prefix { $0 != UInt8(ascii: "/") }
        if hostAndPort(authority) != nil, !authority.contains(UInt8(ascii: "@")) {
            return (authority, text[authority.endIndex...], nil)
        }
        // A password may hold any character, so the last @ that can end it does, before the query if possible.
        guard
            let at = beforeQuery.lastIndex(of: UInt8(ascii: "@")) ?? text.lastIndex(of: UInt8(ascii: "@"))
        else { return nil }
        let information = text[..<at]
        let colon = information.firstIndex(of: UInt8(ascii: ":"))
        let credentials = RTSPCredentials(
            user: unescaped(information[..<(colon ?? information.endIndex)]),
            password: colon.map { unescaped(information[$0...].dropFirst()) } ?? [])
        let rest = text[at...].dropFirst()
        let end = rest.firstIndex { "/?".utf8.contains($0) } ?? rest.endIndex
        return (rest[..<end], rest[end...], credentials)
    }

    /// Returns the bytes with each escape replaced by its byte. A % that does not begin an escape is unchanged.
    private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap(\.hexadecimalValue)
            if byte == UInt8(ascii: "%"), digits.count == 2 {
                bytes.append(digits[0] << 4 | digits[1])
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    /// Returns host and port; nil if the host is missing or cannot be one, or the port is invalid.
    private static func hostAndPort(_ text: ArraySlice<UInt8>) -> (host: [UInt8], port: UInt16?)? {
        guard text.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
        if text.first == UInt8(ascii: "[") {
            guard let end = text.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            return checked(text[..<end].dropFirst(), port: text[end...].dropFirst())
        }
        let colons = text.count { $0 == UInt8(ascii: ":") }
        guard let last = text.lastIndex(of: UInt8(ascii: ":")) else { return checked(text, port: text.suffix(0)) }
        guard colons > 1 else { return checked(text[..<last], port: text[last...]) }
        // IPv6 without brackets. Behind an embedded IPv4 address, as in ::ffff:1.2.3.4:554, a number is the port;
        // otherwise it belongs to the address.
        // Six colons are the fewest without a `::`, before an embedded IPv4 address.
        let isShortened = zip(text, text.dropFirst()).contains { $0 == UInt8(ascii: ":") && $1 == UInt8(ascii: ":") }
        guard isShortened || colons >= 6, text.allSatisfy({ $0.hexadecimalValue != nil || ":.".utf8.contains($0) })
        else { return nil }
        let isBehindIPv4 = text[..<last].contains(UInt8(ascii: "."))
        let isEmpty = text[last...].count == 1 && text[..<last].last != UInt8(ascii: ":")
        return isBehindIPv4 || isEmpty
            ? checked(text[..<last], port: text[last...]) : checked(text, port: text.suffix(0))
    }

    /// Removes the zone from an IPv6 address: `%25` and a name (RFC 6874, section 2), or a lone `%` and a name, as
    /// people write it (section 3).
    private static func takeZone(_ host: inout [UInt8]) -> [UInt8] {
        guard host.contains(UInt8(ascii: ":")), let sign = host.firstIndex(of: UInt8(ascii: "%")) else { return [] }
        let text = host[sign...].dropFirst()
        host = Array(host[..<sign])
        return unescaped(text.starts(with: "25".utf8) && text.count > 2 ? text.dropFirst(2) : text)
    }

    private static func checked(
        _ host: ArraySlice<UInt8>, port: ArraySlice<UInt8>
    ) -> (host: [UInt8], port: UInt16?)? {
        guard !host.isEmpty, host.count <= 255, !host.contains(where: { "[]@\\\"<>".utf8.contains($0) }) else {
            return nil
        }
        guard port.count > 1 else { return port.isEmpty || port.first == UInt8(ascii: ":") ? (Array(host), nil) : nil }
        guard port.first == UInt8(ascii: ":"), let number = TextBytes.number(port.dropFirst(), upTo: 65_535), number > 0
        else { return nil }
        return (Array(host), UInt16(number))
    }
}

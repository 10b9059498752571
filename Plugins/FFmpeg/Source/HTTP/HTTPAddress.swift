import CCurl
import InletCore

// Unsafe: owns libcurl's parser of a URL.
/// An HTTP address as libcurl parses it, so that the request goes to the intended server.
@safe struct HTTPAddress: Sendable, Hashable {
    /// `http` or `https`.
    let scheme: String
    /// The host, in lower case.
    let host: String
    let port: String
    /// The address without credentials and fragment. Characters that an address may not contain are escaped.
    let url: String

    /// - Returns: nil if the text is not an HTTP address.
    init?(_ text: String) {
        let bytes = text.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        let escaped = Self.escape(Array(bytes))
        guard let parser = unsafe inlet_curl_url() else { return nil }
        defer { unsafe inlet_curl_url_cleanup(parser) }
        guard unsafe inlet_curl_url_set(parser, CURLUPART_URL, escaped, UInt32(CURLU_PATH_AS_IS)) == CURLUE_OK,
            let scheme = unsafe Self.part(CURLUPART_SCHEME, of: parser)?.lowercasedASCII,
            ["http", "https"].contains(scheme),
            let host = unsafe Self.part(CURLUPART_HOST, of: parser),
            let port = unsafe Self.part(CURLUPART_PORT, of: parser, UInt32(CURLU_DEFAULT_PORT))
        else { return nil }
        (self.scheme, self.host, self.port) = (scheme, host.lowercasedASCII, port)
        for part in [CURLUPART_USER, CURLUPART_PASSWORD] { _ = unsafe inlet_curl_url_set(parser, part, nil, 0) }
        guard let url = unsafe Self.part(CURLUPART_URL, of: parser) else { return nil }
        self.url = url
    }

    /// Returns the address to which a response from this one redirects (RFC 9110, 10.2.2); nil if it is not an HTTP
    /// address.
    func leading(to location: String) -> HTTPAddress? {
        guard !location.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }), let parser = unsafe inlet_curl_url() else {
            return nil
        }
        defer { unsafe inlet_curl_url_cleanup(parser) }
        let flags = UInt32(CURLU_PATH_AS_IS | CURLU_URLENCODE)
        guard unsafe inlet_curl_url_set(parser, CURLUPART_URL, url, UInt32(CURLU_PATH_AS_IS)) == CURLUE_OK,
            unsafe inlet_curl_url_set(parser, CURLUPART_URL, location, flags) == CURLUE_OK
        else { return nil }
        return unsafe Self.part(CURLUPART_URL, of: parser).flatMap { HTTPAddress($0) }
    }

    /// Escapes characters that may not appear after the host (RFC 3986, 3.3 and 3.4), as libavformat does.
    private static func escape(_ bytes: [UInt8]) -> String {
        let start = bytes.indices.first { bytes[$0...].starts(with: "://".utf8) }.map { $0 + 3 } ?? bytes.endIndex
        let path = bytes[start...].firstIndex { "/?".utf8.contains($0) } ?? bytes.endIndex
        var result = Array(bytes[..<path])
        for index in path..<bytes.endIndex {
            let byte = bytes[index]
            let isEscape =
                byte == UInt8(ascii: "%")
                && bytes[(index + 1)...].prefix(2).compactMap(\.hexadecimalValue).count == 2
            let isOdd = byte <= 0x20 || byte >= 0x80 || "\"<>\\^`{|}%".utf8.contains(byte)
            if isOdd, !isEscape {
                result += [UInt8(ascii: "%"), hexadecimal[Int(byte >> 4)], hexadecimal[Int(byte & 15)]]
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static let hexadecimal = Array("0123456789ABCDEF".utf8)

    /// Returns whether credentials for one address may be sent to the other: protocol, host and port are the same.
    func isSameOrigin(as other: HTTPAddress) -> Bool {
        scheme.isSameBytes(as: other.scheme) && host.isSameBytes(as: other.host) && port.isSameBytes(as: other.port)
    }

    @unsafe private static func part(_ part: CURLUPart, of parser: OpaquePointer, _ flags: UInt32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard unsafe inlet_curl_url_get(parser, part, &text, flags) == CURLUE_OK, let found = unsafe text else {
            return nil
        }
        defer { unsafe inlet_curl_free(found) }
        return unsafe String(cString: found)
    }
}

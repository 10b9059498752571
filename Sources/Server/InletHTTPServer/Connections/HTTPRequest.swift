import InletCore
package import NIOHTTP1

/// The head of a request: the parts that the servers here use. It is parsed as bytes.
package struct HTTPRequest: Sendable {
    /// The HTTP method.
    package let method: HTTPMethod
    /// The path before the query, as it was sent: ASCII with escapes, without ``prefix``.
    package let path: String
    /// The path under which a reverse proxy serves the pages, such as `/cams`; empty without a proxy.
    package let prefix: String
    /// Whether the client keeps the connection open for further requests.
    package let keepsAlive: Bool
    /// Whether the request uses HTTP 1.0, which does not require a Host header.
    package let isOfHTTP10: Bool
    /// The stated length of the body; nil if the request states no length.
    package let length: Int?
    /// Whether a body follows.
    package let hasBody: Bool
    private let query: [UInt8]
    private let headers: HTTPHeaders

    /// Returns nil if the request target is invalid (RFC 3986).
    package init?(_ head: HTTPRequestHead, proxy: ProxyRule = ProxyRule()) {
        guard head.uri.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
        let parts = head.uri.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        method = head.method
        let target = parts.first.map { String(Substring($0)) } ?? "/"
        // Home Assistant's name for the same header.
        let stated = head.headers.first(name: "x-forwarded-prefix") ?? head.headers.first(name: "x-ingress-path")
        (prefix, path) = proxy.paths(of: target, stated: stated)
        query = parts.count > 1 ? Array(parts[1]) : []
        headers = head.headers
        keepsAlive = head.isKeepAlive
        isOfHTTP10 = head.version == .http1_0
        length = head.headers.first(name: "content-length").map { TextBytes.number($0.utf8, upTo: .max) ?? .max }
        hasBody = head.headers.contains(name: "transfer-encoding") || (length ?? 0) != 0
    }

    /// Whether a browser requests the icon of a page.
    var isForIcon: Bool { path.isSameBytes(as: "/favicon.ico") && (method == .GET || method == .HEAD) }

    /// The query with its question mark, as it was sent; empty if there is no query.
    var queryText: String { query.isEmpty ? "" : "?" + String(decoding: query, as: UTF8.self) }

    /// Returns the first value of a header; nil if the request has no such header.
    package func header(_ name: String) -> String? { headers.first(name: name) }

    /// Whether the client sends the body only after the server asks for it, or after a timeout (RFC 9110, 10.1.1).
    package var awaitsContinue: Bool {
        !isOfHTTP10
            && headers["expect"].contains { value in
                value.utf8.split(separator: UInt8(ascii: ",")).contains {
                    TextBytes.isSame(TextBytes.trimmed($0), ignoringCase: "100-continue")
                }
            }
    }

    /// Returns the unescaped bytes of a query item; nil if the query has no item of that name.
    package func queryValue(of name: String) -> [UInt8]? {
        for item in query.split(separator: UInt8(ascii: "&")) {
            let pair = item.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            if pair.count == 2, pair[0].elementsEqual(name.utf8) { return Self.unescaped(pair[1]) }
        }
        return nil
    }

    /// Returns whether the query has an item of that name, with or without a value.
    package func hasQueryItem(_ name: String) -> Bool {
        query.split(separator: UInt8(ascii: "&")).contains { item in
            item.prefix { $0 != UInt8(ascii: "=") }.elementsEqual(name.utf8)
        }
    }

    /// The bearer token (RFC 6750, 2.1); nil if the request has no bearer token.
    package var bearer: [UInt8]? {
        guard let value = header("authorization")?.utf8, TextBytes.isSame(value.prefix(7), ignoringCase: "bearer ")
        else { return nil }
        return Array(value.dropFirst(7))
    }

    /// Returns the values of a cookie, which a client may send more than once.
    package func cookies(named name: String) -> [[UInt8]] {
        headers["cookie"].flatMap { $0.utf8.split(separator: UInt8(ascii: ";")) }.compactMap { cookie in
            let pair = TextBytes.trimmed(cookie).split(separator: UInt8(ascii: "="), maxSplits: 1)
            return pair.count == 2 && pair[0].elementsEqual(name.utf8) ? Array(pair[1]) : nil
        }
    }

    /// The client and proxy addresses that the request has passed through, as proxies report them.
    var forwardedAddresses: [String] {
        let plain = headers["x-forwarded-for"].flatMap { $0.split(atByte: ",") }
        guard plain.isEmpty else { return plain.map { Self.address(String($0)) } }
        return headers["forwarded"].flatMap { $0.split(atByte: ",") }.compactMap { element in
            element.split(atByte: ";").lazy.map { $0.trimmed() }
                .first { TextBytes.isSame($0.utf8.prefix(4), ignoringCase: "for=") }
                .map { Self.address(String($0.dropFirst(4))) }
        }
    }

    /// Whether a proxy states that it forwards the request.
    var isForwarded: Bool { !forwardedAddresses.isEmpty || header("x-forwarded-host") != nil }

    /// Returns an address without quotes, brackets and port.
    private static func address(_ text: String) -> String {
        let text = text.trimmed { $0.isASCIISpace || $0 == UInt8(ascii: "\"") }
        if text.hasBytePrefix("[") { return String(text.dropFirst().prefix(upToByte: "]")) }
        let isIPv6 = text.utf8.count { $0 == UInt8(ascii: ":") } > 1
        return String(isIPv6 ? text : text.prefix(upToByte: ":"))
    }

    /// Whether a proxy reports that the browser used TLS. A client that forges this only loses its own cookie.
    package var cameByTLS: Bool {
        if let schemes = header("x-forwarded-proto")?.utf8 {
            return TextBytes.isSame(
                TextBytes.trimmed(schemes.prefix { $0 != UInt8(ascii: ",") }), ignoringCase: "https")
        }
        // RFC 7239, 4.
        return headers["forwarded"].contains { value in
            value.utf8.split { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: ",") }.contains {
                TextBytes.isSame(TextBytes.trimmed($0), ignoringCase: "proto=https")
            }
        }
    }

    /// Returns the unescaped text; invalid escapes are kept (RFC 3986, 2.1).
    private static func unescaped(_ text: some Sequence<UInt8>) -> [UInt8] {
        let text = Array(text)
        var (bytes, index) = ([UInt8](), 0)
        while index < text.count {
            if text[index] == UInt8(ascii: "%"), index + 2 < text.count, let high = text[index + 1].hexadecimalValue,
                let low = text[index + 2].hexadecimalValue
            {
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(text[index])
                index += 1
            }
        }
        return bytes
    }
}

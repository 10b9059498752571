package import InletCore
package import NIOHTTP1

/// Who may look at a page: this machine alone, or whoever shows a token.
package struct AccessRule: Sendable {
    /// The address that the server listens at.
    package let host: String
    /// The port that it was told to listen at.
    package let port: Int
    /// What everyone must show; nil where nobody need show anything.
    package let token: String?
    /// The name of the cookie in which browsers keep the token. With the port, as they send a host's cookies to all of its ports.
    private var cookieName: String { "inlet-token-\(port)" }

    package init(host: String, port: Int, token: String?) {
        self.host = host
        self.port = port
        self.token = token
    }

    /// Whether only this machine reaches the server.
    package var isLoopback: Bool { Self.isLoopback(host) }

    /// Whether a name or address is this machine's own for sure: a name may begin with 127, too, and be anyone's.
    package static func isLoopback(_ host: some StringProtocol) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127"
            && numbers.allSatisfy { part in part.allSatisfy { $0.isASCII && $0.isNumber } && UInt8(part) != nil }
    }

    /// - Throws: ``InletError/Code/invalidConfiguration`` where others could look without a token, or the token is too short to be one.
    package func validate() throws(InletError) {
        if let token,
            token.utf8.count < 8 || !token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ";") })
        {
            throw InletError(
                .invalidConfiguration,
                "The token has at least 8 characters, which are ASCII and not spaces or semicolons.")
        }
        guard isLoopback || token != nil else {
            throw InletError(
                .invalidConfiguration,
                "At \(host) everyone on the network could look. Add token=SECRET, or leave the address out for this machine alone."
            )
        }
    }

    /// Whether the request was meant for this machine: a page of somebody else whose name was made to point here is told by the name it asks for.
    package func isOfThisHost(_ request: HTTPRequestHead) -> Bool {
        guard isLoopback else { return true }
        guard let asked = request.headers.first(name: "host") else { return request.version == .http1_0 }
        let name = asked.hasPrefix("[") ? asked.prefix { $0 != "]" }.dropFirst() : asked.prefix { $0 != ":" }
        return Self.isLoopback(name) || name == host
    }

    /// Whether the request shows the token: in its query, as a bearer token, or in a cookie.
    package func isAllowed(_ request: HTTPRequestHead, query: Substring) -> Bool {
        guard let token else { return true }
        var shown: [Substring] = []
        if let value = Self.value(of: "token", in: query) { shown.append(value) }
        if let header = request.headers.first(name: "authorization"), header.lowercased().hasPrefix("bearer ") {
            shown.append(header.dropFirst(7))
        }
        for cookie in request.headers[canonicalForm: "cookie"].flatMap({ $0.split(separator: ";") }) {
            let pair = cookie.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            if pair.count == 2, pair[0] == cookieName { shown.append(pair[1]) }
        }
        return shown.contains { Self.isSame($0, token) }
    }

    /// The header that has a browser keep a token that it showed in the query: what a page loads has no place for it. Nil where it showed none.
    package func cookieHeader(query: Substring) -> String? {
        guard let token, Self.value(of: "token", in: query) != nil else { return nil }
        return "\(cookieName)=\(token); HttpOnly; SameSite=Strict; Path=/"
    }

    private static func value(of name: String, in query: Substring) -> Substring? {
        for item in query.split(separator: "&") {
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if pair.count == 2, pair[0] == name { return pair[1] }
        }
        return nil
    }

    /// Compares in a time that does not tell how much of it was right.
    private static func isSame(_ shown: Substring, _ token: String) -> Bool {
        let (shown, token) = (Array(shown.utf8), Array(token.utf8))
        var difference = shown.count ^ token.count
        for index in token.indices { difference |= Int(token[index] ^ (index < shown.count ? shown[index] : 0)) }
        return difference == 0
    }
}

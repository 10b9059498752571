package import InletCore

/// Who may look at a page: this machine alone, or whoever shows a token.
package struct AccessRule: Sendable {
    /// What a request shows.
    package enum Claim: Sendable, Equatable {
        /// Nothing is needed.
        case unneeded
        /// The cookie of one who showed the token before.
        case session
        /// The token.
        case token
        /// No token.
        case nothing
        /// A token, which is another.
        case wrong

        /// Whether it is enough.
        package var isEnough: Bool {
            switch self {
            case .unneeded, .session, .token: true
            case .nothing, .wrong: false
            }
        }
    }

    /// The address that the server listens at.
    package let host: String
    /// The port that it was told to listen at.
    package let port: Int
    /// What everyone must show; nil where nobody need show anything. One is made where others reach the server and none
    /// is given.
    package let token: String?
    /// Whether the token is one that was made here.
    package let isGenerated: Bool
    private let cookie: SessionCookie?

    package init(host: String, port: Int, token: String?) {
        self.host = host
        self.port = port
        isGenerated = token == nil && !Self.isLoopback(host)
        let token = isGenerated ? GeneratedToken.text : token
        self.token = token
        cookie = token.map { SessionCookie(token: $0, port: port) }
    }

    /// Whether only this machine reaches the server.
    package var isLoopback: Bool { Self.isLoopback(host) }

    /// Whether a name or address is this machine's own for sure: a name may begin with 127, too, and be anyone's.
    package static func isLoopback(_ host: some StringProtocol) -> Bool {
        if host.utf8.elementsEqual("localhost".utf8) || host.utf8.elementsEqual("::1".utf8) { return true }
        let numbers = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0].elementsEqual("127".utf8)
            && numbers.allSatisfy { TextBytes.number($0, upTo: 255) != nil }
    }

    /// Whether a token could be found by trying. One of as many signs as a random one of 128 bits has is not.
    package var isGuessable: Bool { token.map { $0.utf8.count < 22 } ?? false }

    /// - Throws: ``InletError/Code/invalidConfiguration`` where the token is too short to be one.
    package func validate() throws(InletError) {
        guard let token else { return }
        guard token.utf8.count >= 8, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ";") })
        else {
            throw InletError(
                .invalidConfiguration,
                "The token has at least 8 characters, which are ASCII and not spaces or semicolons.")
        }
    }

    /// Whether the request was meant for this machine: a page of somebody else whose name was made to point here is
    /// told by the name it asks for.
    package func isOfThisHost(_ request: HTTPRequest) -> Bool {
        guard isLoopback else { return true }
        guard let asked = request.header("host") else { return request.isOfHTTP10 }
        let name =
            asked.utf8.first == UInt8(ascii: "[")
            ? asked.utf8.dropFirst().prefix { $0 != UInt8(ascii: "]") } : asked.utf8.prefix { $0 != UInt8(ascii: ":") }
        return Self.isLoopback(Substring(name)) || name.elementsEqual(host.utf8)
    }

    /// What the request shows: a token in its query or as a bearer token, or the cookie of one who showed it before.
    ///
    /// - Parameter now: seconds since 1970.
    package func claim(of request: HTTPRequest, at now: Int) -> Claim {
        guard let token, let cookie else { return .unneeded }
        if request.cookies(named: cookie.name).contains(where: { cookie.isGood($0, at: now) }) { return .session }
        let shown = [request.queryValue(of: "token"), request.bearer].compactMap(\.self)
        if shown.isEmpty { return .nothing }
        return shown.contains { Self.isSame($0, Array(token.utf8)) } ? .token : .wrong
    }

    /// The header that has a browser keep that it showed the token in the query: what a page loads has no place for it.
    /// Nil where it showed none.
    package func cookieHeader(for request: HTTPRequest, at now: Int) -> String? {
        guard let cookie, request.queryValue(of: "token") != nil else { return nil }
        return cookie.header(at: now, isSecure: request.cameByTLS)
    }

    /// Compares in a time that does not tell how much of it was right.
    private static func isSame(_ shown: [UInt8], _ token: [UInt8]) -> Bool {
        var difference = shown.count ^ token.count
        for index in token.indices { difference |= Int(token[index] ^ (index < shown.count ? shown[index] : 0)) }
        return difference == 0
    }
}

/// The token of servers that others reach and that were given none: one for each run of a program, so that pages of
/// several servers can lead to each other.
private enum GeneratedToken {
    /// 130 random bits, in digits and letters that are not taken for each other
    /// (https://www.crockford.com/base32.html).
    static let text: String = {
        let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
        var random = SystemRandomNumberGenerator()
        return String(decoding: (0..<26).map { _ in digits[Int(random.next() & 31)] }, as: UTF8.self)
    }()
}

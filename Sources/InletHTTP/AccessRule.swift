package import InletCore
import InletDigest

/// Who may view a page: this machine alone, or clients that present a token.
package struct AccessRule: Sendable {
    /// What a request presents.
    package enum Claim: Sendable, Equatable {
        /// Nothing is required.
        case unneeded
        /// The cookie of a client that presented the token before.
        case session
        /// The token.
        case token
        /// No token.
        case nothing
        /// A wrong token.
        case wrong

        /// Whether the claim suffices.
        package var isEnough: Bool {
            switch self {
            case .unneeded, .session, .token: true
            case .nothing, .wrong: false
            }
        }
    }

    /// The address that the server listens at.
    package let host: String
    /// The configured port.
    package let port: Int
    /// The token that every client must present; nil if none is required. One is generated if other machines can reach
    /// the server and none is configured.
    package let token: String?
    /// Whether the server speaks TLS, so that addresses begin with https and cookies are for TLS alone. The default is
    /// false.
    package var isSecure = false
    /// Whether the token was generated here.
    package let isGenerated: Bool
    private let holders: [Holder]

    /// A token with what it allows.
    package struct Grant: Sendable {
        package var token: String
        package var scope: AccessScope
        /// What the token is called where changes are noted; nil if it has no name.
        package var name: String?

        package init(_ token: String, _ scope: AccessScope, name: String? = nil) {
            (self.token, self.scope, self.name) = (token, scope, name)
        }
    }

    private struct Holder {
        var grant: Grant
        var cookie: SessionCookie
    }

    package init(host: String, port: Int, token: String?) {
        self.init(host: host, port: port, grants: token.map { [Grant($0, .admin)] } ?? [])
    }

    /// Makes a rule with several tokens, of which a client presents one.
    ///
    /// - Parameter grants: the tokens; with none, one for everything is generated if other machines can reach the
    ///   server.
    package init(host: String, port: Int, grants: [Grant]) {
        self.host = host
        self.port = port
        isGenerated = grants.isEmpty && !Self.isLoopback(host)
        let grants = isGenerated ? [Grant(GeneratedToken.text, .admin)] : grants
        token = grants.first?.token
        holders = grants.map { grant in
            // A cookie is checked however many wrong tokens a client has shown: one that is made of the token alone
            // would let a short token be guessed by trying cookies.
            let salt = Self.isGuessable(grant.token) ? GeneratedToken.text : ""
            return Holder(grant: grant, cookie: SessionCookie(token: grant.token + salt, port: port))
        }
    }

    /// Whether only this machine can reach the server.
    package var isLoopback: Bool { Self.isLoopback(host) }

    /// Returns whether a name or address is certainly this machine's own: a name may begin with 127, too, and be
    /// anyone's.
    package static func isLoopback(_ host: some StringProtocol) -> Bool {
        if host.utf8.elementsEqual("localhost".utf8) || host.utf8.elementsEqual("::1".utf8) { return true }
        let numbers = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0].elementsEqual("127".utf8)
            && numbers.allSatisfy { TextBytes.number($0, upTo: 255) != nil }
    }

    /// Whether a token could be guessed by trying. One with as many characters as a random 128-bit token cannot.
    package var isGuessable: Bool { holders.contains { Self.isGuessable($0.grant.token) } }

    /// Returns whether a token could be guessed by trying.
    package static func isGuessable(_ token: String) -> Bool { token.utf8.count < 22 }

    /// Checks the token.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if it is too short.
    package func validate() throws(InletError) {
        for holder in holders { try Self.validate(token: holder.grant.token) }
    }

    /// Checks a token.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if it is too short.
    package static func validate(token: String) throws(InletError) {
        guard token.utf8.count >= 8, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ";") })
        else {
            throw InletError(
                .invalidConfiguration,
                "The token has at least 8 characters, which are ASCII and not spaces or semicolons.")
        }
    }

    /// Returns whether the request was meant for this machine: a foreign page whose name was made to resolve to this
    /// machine is recognised by the host that it asks for.
    package func isOfThisHost(_ request: HTTPRequest) -> Bool {
        guard isLoopback else { return true }
        guard let asked = request.header("host") else { return request.isOfHTTP10 }
        let name =
            asked.utf8.first == UInt8(ascii: "[")
            ? asked.utf8.dropFirst().prefix { $0 != UInt8(ascii: "]") } : asked.utf8.prefix { $0 != UInt8(ascii: ":") }
        return Self.isLoopback(Substring(name)) || name.elementsEqual(host.utf8)
    }

    /// Returns what the request presents: a token in its query or as a bearer token, or the cookie of a client that
    /// presented it before.
    ///
    /// - Parameter now: seconds since 1970.
    package func claim(of request: HTTPRequest, at now: Int) -> Claim {
        guard token != nil else { return .unneeded }
        if holders.contains(where: { Self.showsCookie(of: $0, request, at: now) }) { return .session }
        let shown = Self.tokens(of: request)
        if shown.isEmpty { return .nothing }
        return holders.contains { Self.isShown($0, shown) } ? .token : .wrong
    }

    /// Returns how many of the tokens that a request presents may be guesses, and how many are wrong, whatever else it
    /// presents. A right token that is too long to be guessed is no guess.
    package func count(of request: HTTPRequest) -> (guesses: Int, wrong: Int) {
        guard token != nil else { return (0, 0) }
        var count = (guesses: 0, wrong: 0)
        for token in Self.tokens(of: request) {
            let holder = holders.first { Self.isShown($0, [token]) }
            if holder.map({ Self.isGuessable($0.grant.token) }) ?? true { count.guesses += 1 }
            if holder == nil { count.wrong += 1 }
        }
        return count
    }

    /// Returns the most that the tokens and cookies of a request allow; nil if it presents none, or none is required.
    ///
    /// - Parameter now: seconds since 1970.
    package func scope(of request: HTTPRequest, at now: Int) -> AccessScope? { grant(of: request, at: now)?.scope }

    /// Returns the token of a request, or of its cookie, that allows the most; nil if it presents none, or none is
    /// required.
    ///
    /// - Parameter now: seconds since 1970.
    package func grant(of request: HTTPRequest, at now: Int) -> Grant? {
        let shown = Self.tokens(of: request)
        return holders.filter { Self.isShown($0, shown) || Self.showsCookie(of: $0, request, at: now) }
            .map(\.grant).max { $0.scope < $1.scope }
    }

    /// Returns the header for a browser to remember that it presented a token in the query: a page's subresources have
    /// no place for it. Nil if it presented none that is right, whatever else the request presents.
    ///
    /// - Parameters:
    ///   - takesBearer: whether a bearer token counts, where the query has none: a page's own script presents it so.
    ///   - now: seconds since 1970.
    package func cookieHeader(for request: HTTPRequest, takesBearer: Bool = false, at now: Int) -> String? {
        guard let shown = request.queryValue(of: "token") ?? (takesBearer ? request.bearer : nil),
            let holder = holders.first(where: { Self.isShown($0, [shown]) })
        else { return nil }
        return holder.cookie.header(at: now, isSecure: isSecure || request.cameByTLS, below: request.prefix)
    }

    private static func tokens(of request: HTTPRequest) -> [[UInt8]] {
        [request.queryValue(of: "token"), request.bearer].compactMap(\.self)
    }

    private static func isShown(_ holder: Holder, _ shown: [[UInt8]]) -> Bool {
        let token = Array(holder.grant.token.utf8)
        return shown.contains { MessageDigest.isSame($0, token) }
    }

    private static func showsCookie(of holder: Holder, _ request: HTTPRequest, at now: Int) -> Bool {
        request.cookies(named: holder.cookie.name).contains { holder.cookie.isGood($0, at: now) }
    }
}

/// The token of servers that others can reach and that have none configured: one for each run of a program, so that
/// pages of several servers can link to each other.
private enum GeneratedToken {
    /// 130 random bits, in digits and letters that cannot be confused (https://www.crockford.com/base32.html).
    static let text: String = {
        let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
        var random = SystemRandomNumberGenerator()
        return String(decoding: (0..<26).map { _ in digits[Int(random.next() & 31)] }, as: UTF8.self)
    }()
}

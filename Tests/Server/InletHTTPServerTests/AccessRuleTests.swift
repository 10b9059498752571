import InletCore
import NIOHTTP1
import Testing

@testable import InletHTTPServer

@Suite struct AccessRuleTests {
    private static let token = "let-me-in-please"
    private static let now = 1_764_000_000

    private static func request(_ uri: String, _ headers: HTTPHeaders = [:]) throws -> HTTPRequest {
        try #require(HTTPRequest(HTTPRequestHead(version: .http1_1, method: .GET, uri: uri, headers: headers)))
    }

    @Test("A token counts in the query, escaped or not, and as a bearer token; any other is wrong, a missing one not")
    func claims() throws {
        let rule = AccessRule(host: "0.0.0.0", port: 8090, token: Self.token)
        let bearer = { (token: String) -> HTTPHeaders in ["Authorization": "bEaReR \(token)"] }
        for (uri, headers, claim) in [
            ("/?a=b&token=let-me-in-please", [:], .token), ("/?token=let%2Dme%2din-please", [:], .token),
            ("/", bearer(Self.token), .token), ("/?token=wrong-one", bearer(Self.token), .token),
            ("/", [:], .nothing), ("/?tokens=let-me-in-please", [:], .nothing), ("/?token", [:], .nothing),
            ("/?token=", [:], .wrong), ("/?token=let-me-in-pleas", [:], .wrong),
            ("/?token=let-me-in-please2", [:], .wrong), ("/", bearer(""), .wrong),
            ("/", bearer("Let-me-in-please"), .wrong),
            ("/", ["authorization": "Basic let-me-in-please"], .nothing),
            // The sign for Kelvin is canonically equivalent to a K, a combining mark joins the sign before it.
            ("/", bearer("let-me-in-please\u{301}"), .wrong),
        ] as [(String, HTTPHeaders, AccessRule.Claim)] {
            #expect(rule.claim(of: try Self.request(uri, headers), at: Self.now) == claim, "\(uri) \(headers)")
        }
        let open = AccessRule(host: "127.0.0.1", port: 8090, token: nil)
        #expect(open.claim(of: try Self.request("/?token=x"), at: Self.now) == .unneeded)
    }

    @Test(
        "A server that others can reach without a token gets an unguessable one, the same for all servers of a run"
    )
    func generated() throws {
        let rule = AccessRule(host: "0.0.0.0", port: 8090, token: nil)
        try rule.validate()
        #expect(rule.isGenerated && !rule.isGuessable)
        #expect(rule.token?.utf8.count == 26)
        #expect(rule.claim(of: try Self.request("/"), at: Self.now) == .nothing)
        #expect(rule.claim(of: try Self.request("/?token=\(rule.token ?? "")"), at: Self.now) == .token)
        #expect(AccessRule(host: "::", port: 8091, token: nil).token == rule.token)
        for host in ["127.0.0.1", "127.9.9.9", "::1", "localhost"] {
            #expect(AccessRule(host: host, port: 8090, token: nil).token == nil)
        }
        #expect(AccessRule(host: "0.0.0.0", port: 8090, token: Self.token).isGuessable)
    }

    @Test(
        "A host is this machine only if it is stated in digits, or as localhost",
        arguments: [
            ("127.0.0.1", true), ("127.1.2.3", true), ("localhost", true), ("::1", true),
            ("127.0.0.1.example.org", false),
            ("127.0.0.256", false), ("127.0.0", false), ("127.0.0.", false), ("10.0.0.1", false),
            ("127.0.0.\u{661}", false), ("localhost\u{301}", false), ("", false),
        ])
    func loopback(_ host: String, _ isLoopback: Bool) { #expect(AccessRule.isLoopback(host) == isLoopback) }

    @Test("At a loopback address a request is accepted only if its Host header names this machine")
    func hosts() throws {
        let rule = AccessRule(host: "127.0.0.1", port: 8090, token: nil)
        for (host, isOfThisHost) in [
            ("localhost:9", true), ("127.0.0.1", true), ("[::1]:8090", true), ("example.org", false),
            ("127.0.0.1.example.org:8090", false), ("localhost\u{301}:8090", false), ("", false),
        ] {
            #expect(rule.isOfThisHost(try Self.request("/", ["host": host])) == isOfThisHost, "\(host)")
        }
        #expect(!rule.isOfThisHost(try Self.request("/")))
        // Without a token all clients are trusted, and a proxy forwards those of other machines.
        for header in ["x-forwarded-for", "forwarded", "x-forwarded-host"] {
            let value = header == "forwarded" ? "for=192.0.2.1" : "192.0.2.1"
            let forwarded = try Self.request("/", ["host": "localhost", header: value])
            #expect(!rule.isOfThisHost(forwarded), "\(header)")
            #expect(AccessRule(host: "127.0.0.1", port: 8090, token: Self.long).isOfThisHost(forwarded), "\(header)")
        }
    }

    private static let long = "let-me-in-please-for-good"
    // printf 'inlet-session 8090 1764086400' | openssl dgst -sha256 -hmac let-me-in-please-for-good
    private static let code = "0c19adc4f4d10489bb065d7f1e11b874ec80e49d415a55b3fcd4f35c6f684373"

    @Test("The cookie holds an expiry and openssl's code of it with the token, and not the token")
    func cookie() throws {
        let rule = AccessRule(host: "0.0.0.0", port: 8090, token: Self.long)
        let asked = try Self.request("/?token=\(Self.long)")
        let value = "1764086400.\(Self.code)"
        let header = try #require(rule.cookieHeader(for: asked, at: Self.now))
        #expect(header == "inlet-session-8090=\(value); Max-Age=86400; Path=/; HttpOnly; SameSite=Strict")
        #expect(rule.cookieHeader(for: try Self.request("/"), at: Self.now) == nil)
        for (text, age, isGood) in [
            (value, 0, true), (value, 86_399, true), (value, 86_400, false),
            // A longer life than any that was given.
            (value, -1, false), (value.replacing("1764086400", with: "1764086401"), 0, false),
            (value.uppercased(), 0, false), (String(value.dropLast()), 0, false), ("1764086400.", 0, false),
            ("1764086400", 0, false), ("99999999999999999999.\(Self.code)", 0, false), ("", 0, false),
            (value + "\u{301}", 0, false),
        ] {
            let cookies = ["cookie": "a=b; inlet-session-8091=x;  inlet-session-8090=\(text)"] as HTTPHeaders
            let claim = rule.claim(of: try Self.request("/", cookies), at: Self.now + age)
            #expect(claim == (isGood ? .session : .nothing), "\(text) \(age)")
        }
        // For another port, or another token.
        let cookies = ["cookie": "inlet-session-8090=\(value)"] as HTTPHeaders
        for other in [
            AccessRule(host: "0.0.0.0", port: 8091, token: Self.long),
            AccessRule(host: "0.0.0.0", port: 8090, token: "another-token"),
        ] {
            #expect(other.claim(of: try Self.request("/", cookies), at: Self.now) == .nothing)
        }
    }

    @Test("A cookie made only of a short token is invalid, so that clients cannot try tokens by their cookies")
    func guessedCookie() throws {
        let rule = AccessRule(host: "0.0.0.0", port: 8090, token: Self.token)
        // printf 'inlet-session 8090 1764086400' | openssl dgst -sha256 -hmac let-me-in-please
        let code = "f0cc75d3d732fae86a5757066f33e13d9a9b568a70ccf2542d1016806097a29d"
        let guessed = ["cookie": "inlet-session-8090=1764086400.\(code)"] as HTTPHeaders
        #expect(rule.claim(of: try Self.request("/", guessed), at: Self.now) == .nothing)
        let header = rule.cookieHeader(for: try Self.request("/?token=\(Self.token)"), at: Self.now)
        let cookie = try #require(header?.split(separator: ";").first)
        let given = ["cookie": String(cookie)] as HTTPHeaders
        #expect(rule.claim(of: try Self.request("/", given), at: Self.now) == .session)
    }

    @Test("Each token gives its scope's cookie, and a wrong one gives none, whatever else the request presents")
    func cookiesOfScopes() throws {
        let rule = AccessRule(
            host: "0.0.0.0", port: 8090,
            grants: [.init("boss-token-1234", .admin), .init("wall-token-1234", .view)])
        for (token, scope) in [("boss-token-1234", AccessScope.admin), ("wall-token-1234", .view)] {
            let header = try #require(rule.cookieHeader(for: try Self.request("/?token=\(token)"), at: Self.now))
            let cookie = try #require(header.split(separator: ";").first)
            let shown = ["cookie": String(cookie)] as HTTPHeaders
            #expect(rule.scope(of: try Self.request("/", shown), at: Self.now) == scope)
            let wrong = try Self.request("/?token=wrong-token-1234", shown)
            #expect(rule.claim(of: wrong, at: Self.now).isEnough)
            #expect(rule.cookieHeader(for: wrong, at: Self.now) == nil)
        }
        let bearer = ["authorization": "Bearer wall-token-1234"] as HTTPHeaders
        let beside = try Self.request("/?token=wrong-token-1234", bearer)
        #expect(rule.cookieHeader(for: beside, at: Self.now) == nil)
        // A bearer token gives a cookie on request, and no token appears in the query.
        #expect(rule.cookieHeader(for: beside, takesBearer: true, at: Self.now) == nil)
        let alone = try Self.request("/", bearer)
        #expect(rule.cookieHeader(for: alone, at: Self.now) == nil)
        let header = try #require(rule.cookieHeader(for: alone, takesBearer: true, at: Self.now))
        let kept = ["cookie": String(try #require(header.split(separator: ";").first))] as HTTPHeaders
        #expect(rule.scope(of: try Self.request("/", kept), at: Self.now) == .view)
        let wrong = ["authorization": "Bearer wrong-token-1234"] as HTTPHeaders
        #expect(rule.cookieHeader(for: try Self.request("/", wrong), takesBearer: true, at: Self.now) == nil)
    }

    @Test(
        "Behind a proxy with TLS the cookie is for TLS only",
        arguments: [
            (["x-forwarded-proto": "https"], true), (["x-forwarded-proto": "HTTPS, http"], true),
            (["forwarded": "for=192.0.2.1;proto=https;by=203.0.113.43"], true), (["x-forwarded-proto": "http"], false),
            (["forwarded": "proto=http"], false), ([:], false),
        ] as [(HTTPHeaders, Bool)])
    func tls(_ headers: HTTPHeaders, _ isSecure: Bool) throws {
        let rule = AccessRule(host: "0.0.0.0", port: 8090, token: Self.token)
        let header = rule.cookieHeader(for: try Self.request("/?token=let-me-in-please", headers), at: Self.now)
        #expect(header?.hasSuffix("; Secure") == isSecure)
    }

    @Test(
        "A token is long enough, and its characters are valid in a cookie and a query",
        arguments: [
            ("let-me-in", true), ("short", false), ("with a space", false), ("semi;colon", false),
            ("zähneputzen", false),
        ])
    func validation(_ token: String, _ isTaken: Bool) {
        let rule = AccessRule(host: "127.0.0.1", port: 8090, token: token)
        #expect(((try? rule.validate()) != nil) == isTaken)
    }

    @Test("A target that is not printable ASCII is a malformed request")
    func targets() {
        for uri in ["/\u{301}", "/a b", "/\u{7f}", "/é"] {
            #expect(HTTPRequest(HTTPRequestHead(version: .http1_1, method: .GET, uri: uri)) == nil)
        }
    }
}

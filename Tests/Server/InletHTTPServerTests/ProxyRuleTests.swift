import InletCore
import NIOCore
import NIOHTTP1
import Testing

@testable import InletHTTPServer

/// Headers of reverse proxies, and of clients that pretend to be one.
@Suite struct ProxyRuleTests {
    private func rule(_ trusted: String...) throws -> ProxyRule {
        var rule = ProxyRule()
        rule.trusted = try trusted.map { text throws in try ProxyRule.Network(text) }
        return rule
    }

    private func peer(_ text: String) throws -> SocketAddress { try SocketAddress(ipAddress: text, port: 4711) }

    private func request(_ headers: HTTPHeaders, _ uri: String = "/", _ rule: ProxyRule = ProxyRule()) throws
        -> HTTPRequest
    {
        try #require(
            HTTPRequest(HTTPRequestHead(version: .http1_1, method: .GET, uri: uri, headers: headers), proxy: rule))
    }

    @Test(
        "The client is the last address that does not belong to a trusted proxy",
        arguments: [
            (["x-forwarded-for": "192.0.2.1"], "192.0.2.1"),
            (["x-forwarded-for": "198.51.100.9, 192.0.2.1, 10.1.2.3"], "192.0.2.1"),
            (["x-forwarded-for": "10.1.2.3"], "10.1.2.3"),
            (["x-forwarded-for": "192.0.2.1:4711"], "192.0.2.1"),
            (["x-forwarded-for": "192.0.2.1, junk"], "10.0.0.1"),
            (["x-forwarded-for": "192.0.2.1, junk, 10.1.2.3"], "10.1.2.3"),
            (["forwarded": "for=192.0.2.1;proto=https, for=\"10.1.2.3:99\""], "192.0.2.1"),
            (["forwarded": "proto=https; For=\"[2001:db8::1]:99\""], "2001:db8::1"),
            (["forwarded": "for=_hidden"], "10.0.0.1"), ([:], "10.0.0.1"),
        ] as [(HTTPHeaders, String)])
    func client(_ headers: HTTPHeaders, _ expected: String) throws {
        let rule = try rule("10.0.0.0/8")
        #expect(try rule.client(of: request(headers), from: peer("10.0.0.1")) == ClientAddress(expected))
        // Headers of an untrusted client are ignored.
        #expect(try rule.client(of: request(headers), from: peer("11.0.0.1")) == ClientAddress("11.0.0.1"))
        #expect(
            try ProxyRule().client(of: request(headers), from: peer("10.0.0.1")) == ClientAddress("10.0.0.1"))
    }

    @Test(
        "Networks are addresses with or without a length",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("0.0.0.0/0", "8.8.8.8", true),
            ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false), ("fd00::/8", "fd12::1", true),
            ("fd00::/8", "fe80::1", false), ("fd00:1::5", "fd00:1::5", true), ("fd00:1::5", "fd00:1::6", false),
            ("::1", "::1", true), ("fd00:1::/127", "fd00:1::2", false), ("127.0.0.1", "::ffff:127.0.0.1", true),
            ("::/0", "2001:db8::1", true), ("::/0", "192.0.2.1", false),
        ])
    func networks(_ network: String, _ address: String, _ isIn: Bool) throws {
        #expect(try rule(network).trusts(peer(address)) == isIn)
    }

    @Test(
        "Text that is not a network is refused",
        arguments: ["", "x", "10.0.0.0/33", "fd00::/129", "10.0.0.0/", "10.0.0.0/-1", "/8"])
    func noNetworks(_ text: String) {
        #expect(throws: InletError.self) { try ProxyRule.Network(text) }
    }

    @Test(
        "A path that could lead elsewhere is not used as a prefix",
        arguments: [
            ("/cams", "/cams"), ("/cams/", "/cams"), ("/a/b-c_d.e~f", "/a/b-c_d.e~f"), ("/", ""), ("cams", nil),
            ("//evil.example", nil), ("/a//b", nil), ("/a b", nil), ("/a\r\nx: y", nil), ("/a;b", nil), ("/ä", nil),
            ("/" + String(repeating: "a", count: 200), nil),
        ] as [(String, String?)])
    func prefixes(_ text: String, _ expected: String?) {
        #expect(ProxyRule.prefix(text) == expected)
    }

    @Test("The configured path is removed, otherwise the stated one is used")
    func paths() throws {
        var rule = ProxyRule()
        rule.basePath = "/cams"
        for (uri, path, prefix) in [
            ("/cams/v1?x", "/v1", "/cams"), ("/cams", "", "/cams"), ("/camsv1", "/camsv1", ""), ("/v1", "/v1", ""),
        ] {
            let request = try request([:], uri, rule)
            #expect(request.path == path && request.prefix == prefix, "\(uri)")
        }
        #expect(try request(["x-forwarded-prefix": "/a/"]).prefix == "/a")
        #expect(try request(["x-ingress-path": "/api/hassio_ingress/x1"]).prefix == "/api/hassio_ingress/x1")
        #expect(try request(["x-forwarded-prefix": "//evil.example"]).prefix.isEmpty)
    }
}

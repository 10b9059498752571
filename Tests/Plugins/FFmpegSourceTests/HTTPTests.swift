import Foundation
import InletFFmpeg
import InletNetwork
import ReferenceTools
import Testing

@testable import FFmpegSource

@Suite struct HTTPAnswerTests {
    private func answer(_ lines: String...) -> HTTPAnswer {
        var answer = HTTPAnswer()
        for line in lines { answer.add(line + "\r\n") }
        return answer
    }

    @Test("A full response states its length, and whether ranges are supported")
    func whole() {
        let found = answer(
            "HTTP/1.1 200 OK", "Content-Type: video/mp4", "content-length: 1000", "Accept-Ranges: Bytes", "")
        #expect(found.isWhole && found.isSuccess && found.isSeekable)
        #expect(found.size == 1000 && found.contentType == "video/mp4")
        #expect(!answer("HTTP/1.1 200 OK", "Content-Length: 5", "").isSeekable)
        #expect(answer("HTTP/1.1 200 OK", "Content-Length: 5", "Transfer-Encoding: chunked", "").size == nil)
        #expect(answer("HTTP/1.0 200", "").isSuccess)
        #expect(answer("ICY 200 OK", "").isSuccess)
    }

    @Test(
        "A partial response states its position in the whole",
        arguments: [
            ("bytes 0-99/1000", 0, 1000), ("bytes 100-199/*", 100, nil), ("Bytes 5-6/7", 5, 7),
            ("bytes */1000", nil, nil), ("bytes 1-2", nil, nil), ("bytes -1-2/3", nil, nil), ("items 0-1/2", nil, nil),
            ("bytes 99999999999999999999-1/2", nil, nil), ("bytes 0-1/99999999999999999999", 0, nil),
            ("bytes 0-1/-5", 0, nil), ("", nil, nil),
        ] as [(String, Int64?, Int64?)])
    func part(_ range: String, _ start: Int64?, _ whole: Int64?) {
        let found = answer("HTTP/1.1 206 Partial Content", "Content-Range: \(range)", "Content-Length: 100", "")
        #expect(found.part?.start == start && found.size == whole && found.isSeekable == (start != nil))
    }

    @Test("Another status line restarts the response, and the text after the head is not part of it")
    func anew() {
        var found = answer("HTTP/1.1 401 Unauthorized", "Content-Length: 7", "")
        #expect(found.isWhole && found.status == 401)
        found.add("HTTP/1.1 200 OK\r\n")
        #expect(!found.isWhole && found.length == nil)
        found.add("\r\n")
        found.add("Content-Length: 9\r\n")
        #expect(found.isWhole && found.length == nil)
        #expect(!answer("HTTP/1.1 100 Continue", "").isWhole)
    }

    @Test("A response states its redirection target, and whether credentials are required")
    func leads() {
        #expect(answer("HTTP/1.1 302 Found", "Location: ../b c", "").location == "../b c")
        #expect(answer("HTTP/1.1 401 No", "WWW-Authenticate: Basic realm=\"x\"", "").asksForCredentials)
        #expect(answer("HTTP/1.1 401 No", "WWW-Authenticate: Bearer, DIGEST nonce=\"x\"", "").asksForCredentials)
        #expect(!answer("HTTP/1.1 401 No", "WWW-Authenticate: Negotiate", "").asksForCredentials)
        #expect(answer("HTTP/1.1 401 No", "WWW-Authenticate: Digest nonce=\"x\", stale=TRUE", "").isStale)
        #expect(!answer("HTTP/1.1 401 No", "WWW-Authenticate: Digest nonce=\"x\"", "").isStale)
    }

    @Test("Other text is not a success", arguments: ["", "HTTP/1.1", "HTTP/1.1 x", "nothing: 1", "HTTP/1.1 -200 OK"])
    func garbage(_ line: String) {
        var found = answer(line)
        found.add("\r\n")
        #expect(!found.isWhole || !found.isSuccess)
    }
}

@Suite struct HTTPAddressTests {
    @Test(
        "An address is sent without credentials and fragment, with spaces escaped",
        arguments: [
            ("http://a/b", "http://a/b"), ("http://a/%41%2f%zz%", "http://a/%41%2f%25zz%25"),
            // As ffmpeg 5.1 requests it.
            (
                "http://a/p {}|\\^`\"<>[]é~!$'()*,;:@=?q {}|\\^`\"<>[]é#frag",
                "http://a/p%20%7B%7D%7C%5C%5E%60%22%3C%3E[]%C3%A9~!$'()*,;:@=?q%20%7B%7D%7C%5C%5E%60%22%3C%3E[]%C3%A9"
            ),
            ("http://me:pw@a:81/b?c#d", "http://a:81/b?c"),
            ("HTTP://A/x y", "http://A/x%20y"), ("http://a/../b", "http://a/../b"),
            ("https://[::1]:8443/", "https://[::1]:8443/"), ("http://a/b@c:d", "http://a/b@c:d"),
        ])
    func url(_ text: String, _ url: String) {
        #expect(HTTPAddress(text)?.url.lowercased() == url.lowercased())
    }

    @Test(
        "A redirection target is resolved against the address that redirected",
        arguments: [
            ("c", "http://a:81/x/c"), ("/c?d", "http://a:81/c?d"), ("../c d", "http://a:81/c%20d"),
            ("//b/c", "http://b/c"), ("https://b/c#d", "https://b/c"), ("?q", "http://a:81/x/b?q"),
            ("http://me:pw@b/", "http://b/"), ("file:///etc/passwd", nil), ("http://", nil), ("a\u{1}b", nil),
        ] as [(String, String?)])
    func leading(_ location: String, _ url: String?) throws {
        let found = try #require(HTTPAddress("http://a:81/x/b")).leading(to: location)
        #expect(found?.url == url.flatMap { HTTPAddress($0)?.url })
        #expect((found == nil) == (url == nil))
    }

    @Test(
        "An address that is not HTTP is refused",
        arguments: ["", "a/b", "file:///etc/passwd", "rtsp://a/", "http://", "http://a:99999/", "http://a/\r\nX: y"])
    func none(_ text: String) { #expect(HTTPAddress(text) == nil) }

    @Test(
        "Credentials are for the same protocol, host and port",
        arguments: [
            ("http://a/", "http://A:80/b", true), ("https://a/", "https://a:443/", true),
            ("http://a/", "https://a/", false),
            ("http://a/", "http://a:8080/", false), ("http://a/", "http://a.b/", false),
            ("http://a/", "http://a@b/", false),
        ])
    func origin(_ one: String, _ other: String, _ isSame: Bool) throws {
        #expect(try #require(HTTPAddress(one)).isSameOrigin(as: #require(HTTPAddress(other))) == isSame)
    }
}

@Suite struct HTTPLeaderTests {
    @Test("The most public of several redirecting hosts counts, and one behind a proxy counts as public")
    func mostPublic() throws {
        let (near, far) = (try #require(IPAddress(literal: "10.0.0.1")), try #require(IPAddress(literal: "8.8.8.8")))
        #expect(HTTPLeader.user.orMorePublic(near) == .server(near))
        #expect(HTTPLeader.server(near).orMorePublic(far) == .server(far))
        #expect(HTTPLeader.server(far).orMorePublic(near) == .server(far))
        #expect(HTTPLeader.server(near).orMorePublic(nil as IPAddress?) == .server(nil))
        #expect(HTTPLeader.server(nil).orMorePublic(near) == .server(nil))
        #expect(HTTPLeader.server(near).orMorePublic(.user) == .server(near))
    }
}

@Suite struct ProxyEnvironmentTests {
    @Test(
        "The proxy is the one that the environment names for the protocol",
        arguments: [
            ([:], "http", nil), (["http_proxy": "http://p:1"], "http", "http://p:1"),
            (["HTTP_PROXY": "http://p:1"], "http", nil), (["http_proxy": "http://p:1"], "https", "http://p:1"),
            (["https_proxy": "p", "http_proxy": "q"], "https", "p"), (["HTTPS_PROXY": "p"], "https", "p"),
            (["ALL_PROXY": "p"], "http", "p"), (["http_proxy": ""], "http", nil),
        ] as [([String: String], String, String?)])
    func proxy(_ environment: [String: String], _ scheme: String, _ proxy: String?) {
        #expect(ProxyEnvironment(environment).proxy(scheme: scheme, host: "a.example") == proxy)
    }

    @Test(
        "Hosts are excepted by name and by domain",
        arguments: [
            ("a.example", true), (".example", true), ("example", true), ("*", true), ("b, a.example", true),
            ("A.EXAMPLE", true), ("le", false), ("b.example", false), ("", false),
        ])
    func exceptions(_ list: String, _ isExcepted: Bool) {
        let proxies = ProxyEnvironment(["http_proxy": "p", "no_proxy": list])
        #expect((proxies.proxy(scheme: "http", host: "a.example") == nil) == isExcepted)
    }
}

extension ProxyEnvironmentTests {
    @Test(
        "Addresses are excepted by themselves and by their networks",
        arguments: [
            ("192.168.1.5", "192.168.0.0/16", true), ("192.168.1.5", "192.168.1.5", true),
            ("192.169.1.5", "192.168.0.0/16", false), ("[::1]", "::1", true), ("[fd00::7]", "fd00::/8", true),
            ("[::1]", "1", false), ("10.0.0.1", "0.0.0.0/0", true), ("10.0.0.1", "10.0.0.0/33", false),
            ("10.0.0.1", "10.0.0.0/", false), ("a.example", "*.example", true), ("b.test", "*.example", false),
        ])
    func networks(_ host: String, _ list: String, _ isExcepted: Bool) {
        let proxies = ProxyEnvironment(["http_proxy": "p", "no_proxy": list])
        #expect((proxies.proxy(scheme: "http", host: host) == nil) == isExcepted)
    }
}

@Suite(.blocking) struct SegmentCipherTests {
    private let key = "000102030405060708090a0b0c0d0e0f"
    private let vector = "0f0e0d0c0b0a09080706050403020100"

    @Test(
        "Data encrypted by openssl is decrypted, in any pieces", arguments: [0, 1, 15, 16, 17, 1000, 4096])
    func decrypts(_ length: Int) throws {
        let folder = try TemporaryFolder()
        let plain = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try Data(plain).write(to: URL(fileURLWithPath: folder.path("plain")))
        let encrypted = [UInt8](
            try ReferenceCommand.run(
                "openssl", ["enc", "-aes-128-cbc", "-K", key, "-iv", vector, "-in", folder.path("plain")]))
        for size in [1, 7, 16, 33, 5000] {
            let cipher = try #require(SegmentCipher(key: key, vector: vector))
            var found: [UInt8] = []
            var rest = encrypted[...]
            while !rest.isEmpty {
                found += cipher.decrypt(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            found += try #require(cipher.finish())
            #expect(found == plain)
        }
    }

    @Test("Truncated or wrongly padded data is an error, and empty data is empty")
    func broken() throws {
        let cipher = try #require(SegmentCipher(key: key, vector: vector))
        #expect(cipher.finish() == [])
        #expect(cipher.decrypt([1, 2, 3]) == [])
        #expect(cipher.finish() == nil)
        for bad in ["", "00", "0x0102030405060708090a0b0c0d0e0f00", String(repeating: "g", count: 32)] {
            #expect(SegmentCipher(key: bad, vector: vector) == nil && SegmentCipher(key: key, vector: bad) == nil)
        }
    }
}

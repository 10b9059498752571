import InletCore
import InletRTSP
import Testing

@Suite struct CaptureRedactorTests {
    private static let redactor = CaptureRedactor(SecretMask(key: Array(0..<32)))

    private static func redacted(_ text: String) -> String {
        var bytes = Array(text.utf8)
        redactor.redact(&bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(
        "No secret is left, every line keeps its length, and other text is unchanged",
        arguments: [
            // RFC 7616, section 3.9.1.
            (
                """
                WWW-Authenticate: Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=MD5, \
                nonce="7Ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
                """, ["example", "7Ypf", "URrv", "FQhe", "UYo5"], ["Digest realm=\"", "qop=\"auth, auth-int\"", "=MD5"]
            ),
            (
                """
                Authorization: Digest username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", \
                algorithm=MD5, nonce="7Ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", nc=00000001, \
                cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", qop=auth, \
                response="8ca523f5e9506fed4657c9700eebdbec"
                """, ["Mufasa", "example", "index", "7Ypf", "f2/w", "8ca5", "bdbec"], ["nc=00000001", "qop=auth,"]
            ),
            // RFC 7617, section 2.
            ("Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", ["QWxh", "FtZQ"], ["Basic "]),
            ("authorization :Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", ["QWxh", "FtZQ"], []),
            ("Authorization: Bearer abcdef123456", ["abcdef", "123456"], ["Bearer "]),
            ("Authorization: abcdef123456", ["abcdef", "123456"], []),
            ("Authorization: abcdef=123456", ["abcdef", "123456"], []),
            ("Authorization: Digest response=8ca523f5, x=1234567", ["8ca523f5", "1234567"], ["response="]),
            ("Authorization: Digest nonce=\"never closed, user=abc", ["never", "closed", "abc"], []),
            ("Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", ["QWxh"], []),
            (
                "WWW-Authenticate: Basic realm=\"a \\\" b\", Digest realm=\"cam\"", ["cam"],
                ["Basic realm=\"", ", Digest"]
            ),
            ("WWW-Authenticate: Digest realm=\"x\",\r\n nonce=\"folded123\"", ["folded"], ["nonce=\""]),
            (
                "Authentication-Info: nextnonce=\"47364c23\", rspauth=\"6629fae4\"", ["47364c23", "6629"],
                ["nextnonce="]
            ),
            ("Session: 12345678;timeout=60", ["12345678"], [";timeout=60"]),
            ("Session : 12345678 ; timeout = 60 ; id=987654", ["12345678", "987654"], ["timeout = 60"]),
            ("Cookie: id=abcdef; x=y12345", ["abcdef", "y12345"], []),
            ("x-sessioncookie: tD9hKgAAfB8ABCftAAAAAw", ["tD9h", "AAAw"], []),
            ("X-Api-Key: 0123456789", ["0123456789"], []), ("password: hunter2", ["hunter2"], []),
            ("DESCRIBE rtsp://user:pa%2Fss@camera/live RTSP/1.0", ["user", "pa%2F"], ["@camera/live RTSP/1.0"]),
            (
                "DESCRIBE rtsp://us'er:p\"a<s>sword@camera/live RTSP/1.0", ["us", "er:", "p\"", "sword"],
                ["@camera/live RTSP/1.0"]
            ),
            ("X-Camera: \"rtsp://user:pa\"ss@camera/live\"", ["user", "pa\"", "ss@"], ["@camera/live"]),
            ("Content-Base: rtsp://user:pa/s@s@camera:554/live/", ["user", "pa/", "s@s"], ["@camera:554/live/"]),
            (
                "SETUP rtsp://camera/user=admin_password=tlJwpbo6_channel=1_stream=0.sdp?real_stream RTSP/1.0",
                ["admin", "tlJw", "real_stream"], ["rtsp://camera/user=", " RTSP/1.0"]
            ),
            (
                "PLAY rtsp://camera/cam?channel=1&subtype=0&token=abc123 RTSP/1.0", ["abc123"],
                ["?channel=1&subtype=0&token="]
            ),
            (
                "RTP-Info: url=rtsp://u:secret@h/s/trackID=1;seq=45102;rtptime=2890844526,url=key=secret/2;seq=30211",
                ["secret"], ["/trackID=1;seq=45102;rtptime=2890844526,url=", "seq=30211"]
            ),
            ("a=control:rtsp://user:secret@h/trackID=2", ["secret", "user"], ["@h/trackID=2"]),
            ("a=control:?pass=secret1&track=3", ["secret1"], ["a=control:?pass=", "&track=3"]),
            (
                "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:PS1uQCVeeCFCanVmcjkpPywjNWhcYD0mXXtxaVBR", ["PS1u"],
                ["a=crypto:"]
            ),
            ("k=clear:hunter2", ["hunter2"], ["k="]),
            ("Location: rtsp://user:secret@other:8554/live?token=abc123", ["secret", "abc123"], ["@other:8554/live?"]),
            ("Location: /live?abc123", ["abc123"], ["/live?"]),
        ] as [(String, [String], [String])])
    func lines(_ line: String, _ secrets: [String], _ open: [String]) {
        let text = "RTSP/1.0 200 OK\r\nCSeq: 2\r\n\(line)\r\nTransport: RTP/AVP/TCP;interleaved=0-1\r\n\r\n"
        let result = Self.redacted(text)
        for secret in secrets { #expect(!result.contains(secret), "\(result)") }
        for part in open { #expect(result.contains(part), "\(result)") }
        #expect(result.hasPrefix("RTSP/1.0 200 OK\r\nCSeq: 2\r\n"))
        #expect(result.hasSuffix("\r\nTransport: RTP/AVP/TCP;interleaved=0-1\r\n\r\n"))
        #expect(
            result.utf8.split(separator: 10, omittingEmptySubsequences: false).map(\.count)
                == text.utf8.split(separator: 10, omittingEmptySubsequences: false).map(\.count))
    }

    @Test("A text with many beginnings of addresses does not take quadratic time", .timeLimit(.minutes(1)))
    func manyAddresses() {
        let text = "X: " + String(repeating: "a://", count: 200_000) + "\r\n"
        #expect(Self.redacted(text).utf8.count == text.utf8.count)
        #expect(Self.redacted("X: " + String(repeating: "a://b@", count: 100_000) + "\r\n").utf8.last == 10)
    }

    /// RFC 2326, sections 14.1 and 14.2, and the texts of cameras.
    @Test(
        "A text without secrets is unchanged",
        arguments: [
            "RTSP/1.0 200 OK\r\nCSeq: 1\r\nPublic: DESCRIBE, SETUP, TEARDOWN, PLAY, PAUSE\r\n\r\n",
            "SETUP rtsp://audio.example.com/twister/audio.en/streamid=0 RTSP/1.0\r\nCSeq: 1\r\n\r\n",
            "RTSP/1.0 200 OK\r\nTransport: RTP/AVP/UDP;unicast;client_port=3056-3057;server_port=5000-5001\r\n\r\n",
            "v=0\r\no=- 2890844526 2890842807 IN IP4 192.16.24.202\r\ns=RTSP Session\r\nc=IN IP6 fe80::1\r\n"
                + "a=fmtp:96 packetization-mode=1;profile-level-id=64001f;sprop-parameter-sets=Z2QAH6w=,aO48sA==\r\n"
                + "a=control:trackID=1\r\na=rtpmap:96 H264/90000\r\n",
            "RTP-Info: url=rtsp://foo.com/test.wav/streamid=0;seq=45102;rtptime=-1;ssrc=0F1A2B3C\r\n",
        ])
    func open(_ text: String) { #expect(Self.redacted(text) == text) }

    @Test("Equal secrets get equal masks, different secrets different ones, and another capture other masks")
    func consistency() {
        func session(_ text: String, _ redactor: CaptureRedactor = Self.redactor) -> [UInt8] {
            var bytes = Array("Session: \(text)\r\n".utf8)
            redactor.redact(&bytes)
            return SessionHeader(Array(bytes.dropFirst(9).dropLast(2)))?.id ?? []
        }
        #expect(session("1234567890") == session("1234567890;timeout=30"))
        #expect(session("1234567890").count == 10)
        #expect(session("1234567890") != session("1234567891"))
        #expect(session("1234567890") != session("1234567890", CaptureRedactor()))
        #expect(String(reflecting: SecretMask(key: [1, 2, 3])) == "mask of secrets")
    }

    @Test("A masked challenge is answered in the same way", arguments: ["MD5", "SHA-256", "MD5-sess", nil])
    func challenges(_ algorithm: String?) {
        func header(_ nonce: String, _ more: String = "") -> [UInt8] {
            Array(
                "Digest realm=\"cam, \\\"x\\\"\", nonce=\"\(nonce)\"\(algorithm.map { ", algorithm=\($0)" } ?? "")\(more)"
                    .utf8)
        }
        func masked(_ value: [UInt8]) -> [UInt8] {
            var line = Array("WWW-Authenticate: ".utf8) + value
            Self.redactor.redact(&line)
            return Array(line.dropFirst(18))
        }
        for change in [{ $0 }, masked] as [([UInt8]) -> [UInt8]] {
            let credentials = RTSPCredentials(user: [1], password: [2])
            var authentication = RTSPAuthentication(credentials: credentials)
            #expect(
                authentication.take(challenges: [change(header("abc"))], sent: nil, wasAnsweringChallenge: false)
                    == .retry)
            let sent = authentication.authorization(method: .describe, uri: [])
            #expect(sent?.starts(with: "Digest ".utf8) == true)
            var same = authentication
            #expect(
                same.take(challenges: [change(header("abc"))], sent: sent, wasAnsweringChallenge: true) == .refused)
            #expect(
                authentication.take(
                    challenges: [change(header("abd", ", stale=true"))], sent: sent, wasAnsweringChallenge: true)
                    == .retry)
        }
    }

    @Test("Any text keeps its length and its line ends", arguments: 0..<4000)
    func mutation(_ seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let parts = [
            "Authorization", ":", "Digest", " ", "=", "\"", "\\", ",", "\r\n", "nonce", "://", "@", "?", "&", ";",
            "Session", "a=control:", "k=", "RTP-Info: url=", "\n ", "$", "\u{1F600}", "abc", "/", "#",
        ]
        let text = (0..<Int.random(in: 1...40, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
        let bytes = Array(text.joined().utf8)
        var redacted = bytes
        Self.redactor.redact(&redacted)
        #expect(redacted.count == bytes.count)
        #expect(redacted.indices.filter { redacted[$0] == 10 } == bytes.indices.filter { bytes[$0] == 10 })
        var again = redacted
        Self.redactor.maskAll(&again)
        #expect(again.allSatisfy { $0 == 10 || $0 == 13 || $0 == UInt8(ascii: "x") })
    }
}

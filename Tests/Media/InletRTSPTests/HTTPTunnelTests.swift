import InletCore
import InletRTSP
import Testing

/// RTSP in HTTP, with the requests and answers of LIVE555, gst-rtsp-server and gortsplib.
@Suite struct HTTPTunnelTests {
    /// A tunnel, and everything that it requests.
    struct Run {
        var tunnel: HTTPTunnel
        /// The tunnel's requests, in order.
        var actions: [HTTPTunnel.Action] = []
        /// The RTSP bytes that arrived on the GET.
        var stream: [UInt8] = []

        init(
            _ address: String = "rtsp://cam/live?a=b", user: String? = "u", password: String = "p", path: String? = nil
        ) throws {
            let url = try RTSPURL(Array(address.utf8))
            tunnel = HTTPTunnel(
                HTTPEndpoint(url, path: path.map { Array($0.utf8) }, userAgent: "Inlet"),
                credentials: user.map { RTSPCredentials(user: Array($0.utf8), password: Array(password.utf8)) },
                isEncrypted: url.isSecure, cookie: Array("0123456789abcdef012345".utf8),
                clientNonce: Array("0a4f113b".utf8))
        }

        mutating func connect(_ leg: HTTPTunnel.Leg) -> String {
            String(decoding: tunnel.connected(leg), as: UTF8.self)
        }

        mutating func receive(_ text: String, on leg: HTTPTunnel.Leg, size: Int = .max) throws {
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let piece = Array(rest.prefix(size))
                rest = rest.dropFirst(piece.count)
                let (consumed, action) = try unsafe tunnel.receive(piece.span.bytes, on: leg)
                if let action { actions.append(action) }
                if leg == .get, tunnel.isCarrying { stream += piece[consumed...] }
            }
        }

        mutating func encode(_ text: String) -> String {
            var output: [UInt8] = []
            tunnel.encode(Array(text.utf8), into: &output)
            return String(decoding: output, as: UTF8.self)
        }

        /// A tunnel whose POST is open.
        static func carrying() throws -> Run {
            var run = try Run()
            _ = run.connect(.get)
            try run.receive(HTTPTunnelTests.accepted, on: .get)
            _ = run.connect(.post)
            return run
        }
    }

    /// The answer of gst-rtsp-server 1.22 to the GET.
    static let accepted = """
        HTTP/1.0 200 OK\r
        Server: GStreamer RTSP Server\r
        Connection: close\r
        Cache-Control: no-store\r
        Pragma: no-cache\r
        x-server-ip-address: 10.0.0.7\r
        Content-Type: application/x-rtsp-tunnelled\r
        \r\n
        """
    /// The challenge of RFC 2617, section 3.5, without its quality of protection.
    private static let digest = """
        HTTP/1.1 401 Unauthorized\r
        WWW-Authenticate: Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093"\r
        Content-Length: 5\r
        \r
        Go on
        """
    private static let basic = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"cam\"\r\n\r\n"

    @Test func theRequestsAreThoseThatServersKnow() throws {
        var run = try Run("rtsp://cam:8080/live?a=b")
        #expect(
            run.connect(.get) == """
                GET /live?a=b HTTP/1.0\r
                Host: cam:8080\r
                User-Agent: Inlet\r
                x-sessioncookie: 0123456789abcdef012345\r
                Accept: application/x-rtsp-tunnelled\r
                Pragma: no-cache\r
                Cache-Control: no-cache\r
                \r\n
                """)
        try run.receive(Self.accepted, on: .get)
        #expect(run.actions == [.connect(.post)])
        #expect(
            run.connect(.post) == """
                POST /live?a=b HTTP/1.0\r
                Host: cam:8080\r
                User-Agent: Inlet\r
                x-sessioncookie: 0123456789abcdef012345\r
                Content-Type: application/x-rtsp-tunnelled\r
                Pragma: no-cache\r
                Cache-Control: no-cache\r
                Content-Length: 32767\r
                Expires: Sun, 9 Jan 1972 00:00:00 GMT\r
                \r\n
                """)
        #expect(run.tunnel.canSend)
        // RFC 4648, section 10: each message is padded.
        #expect(run.encode("fooba") + run.encode("f") == "Zm9vYmE=Zg==")
    }

    @Test(
        "Port, host and path are those of a web server unless the address states others",
        arguments: [
            ("rtsp://cam", nil, 80, "GET / HTTP/1.0\r\nHost: cam\r\n"),
            ("rtsps://cam/a", nil, 443, "GET /a HTTP/1.0\r\nHost: cam\r\n"),
            ("rtsp://cam:554/a b", nil, 554, "GET /a%20b HTTP/1.0\r\nHost: cam:554\r\n"),
            ("rtsps://[::1]:443?x", nil, 443, "GET /?x HTTP/1.0\r\nHost: [::1]\r\n"),
            ("rtsp://u:p@cam/a", "/tunnel", 80, "GET /tunnel HTTP/1.0\r\nHost: cam\r\n"),
            ("rtsp://cam/a", "t\r\nX: y", 80, "GET /t%0D%0AX:%20y HTTP/1.0\r\nHost: cam\r\n"),
        ] as [(String, String?, UInt16, String)])
    func endpoint(_ address: String, _ path: String?, _ port: UInt16, _ start: String) throws {
        var run = try Run(address, path: path)
        #expect(run.connect(.get).utf8.starts(with: start.utf8))
        #expect(try RTSPURL(Array(address.utf8)).tunnelPort == port)
    }

    @Test func digestIsAnsweredOnceAndSentWithThePostUnasked() throws {
        var run = try Run(user: "Mufasa", password: "Circle Of Life")
        #expect(!run.connect(.get).containsBytes("Authorization"))
        try run.receive(Self.digest, on: .get)
        #expect(run.actions == [.connect(.get)])
        // RFC 2617, section 3.2.2.1, without `qop`; computed by Python's hashlib.
        #expect(run.connect(.get).containsBytes("response=\"3f88c0b33720a3459181d5279a326a50\""))
        try run.receive(Self.accepted, on: .get)
        let post = run.connect(.post)
        #expect(post.containsBytes("response=\"ebff7b2cc8e3b16286bcf3dd64631360\""))
        #expect(post.containsBytes("uri=\"/live?a=b\""))
    }

    @Test(arguments: [basic, digest]) func credentialsThatAreRefusedAreNotTriedAgain(_ challenge: String) throws {
        var run = try Run()
        _ = run.connect(.get)
        try run.receive(challenge, on: .get)
        _ = run.connect(.get)
        let error = #expect(throws: InletError.self) { try run.receive(challenge, on: .get) }
        #expect(error?.code == .authenticationFailed)
        var without = try Run(user: nil)
        _ = without.connect(.get)
        #expect(throws: InletError.self) { try without.receive(challenge, on: .get) }
    }

    @Test func aPostThatIsRefusedIsRepeatedWithItsBody() throws {
        var run = try Run.carrying()
        let sent = run.encode("DESCRIBE 1") + run.encode("2")
        try run.receive(Self.basic, on: .post)
        #expect(run.actions.last == .connect(.post))
        #expect(!run.tunnel.canSend)
        let again = run.connect(.post)
        // RFC 7617: base64 of `u:p`.
        #expect(again.containsBytes("Authorization: Basic dTpw\r\n"))
        #expect(again.utf8.suffix(sent.utf8.count + 4).elementsEqual("\r\n\r\n\(sent)".utf8))
        let error = #expect(throws: InletError.self) { try run.receive(Self.basic, on: .post) }
        #expect(error?.code == .authenticationFailed)
    }

    @Test func aNonceThatIsTooOldIsReplacedAndTheBodySentOnceMore() throws {
        var run = try Run.carrying()
        let sent = run.encode("DESCRIBE")
        try run.receive(Self.digest, on: .post)
        _ = run.connect(.post)
        try run.receive(
            "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"a\", nonce=\"new\", stale=true\r\n\r\n", on: .post)
        let again = run.connect(.post)
        #expect(again.containsBytes("nonce=\"new\""))
        #expect(again.utf8.suffix(sent.utf8.count + 4).elementsEqual("\r\n\r\n\(sent)".utf8))
    }

    @Test func whatFollowsAnEarlyAnswerToThePostHasNoMeaning() throws {
        var run = try Run.carrying()
        try run.receive("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", on: .post)
        try run.receive("no\nhead\n", on: .post)
        for _ in 0..<100 { try run.receive(String(repeating: "x", count: 1000), on: .post) }
        #expect(run.tunnel.canSend)
        #expect(run.actions == [.connect(.post)])
    }

    @Test func nothingThatTheServerHasTakenIsRepeated() throws {
        var run = try Run.carrying()
        _ = run.encode("DESCRIBE")
        run.tunnel.noteArrival()
        try run.receive(Self.basic, on: .post)
        #expect(run.connect(.post).utf8.suffix(4).elementsEqual("\r\n\r\n".utf8))
        // A text that is too long to be kept is not repeated either, and memory stays bounded.
        var long = try Run.carrying()
        for _ in 0..<100 { _ = long.encode(String(repeating: "x", count: 1000)) }
        try long.receive(Self.basic, on: .post)
        #expect(long.connect(.post).utf8.count < 1000)
    }

    @Test(
        "An immediate answer to the POST changes nothing",
        arguments: ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n"])
    func earlyAnswer(_ answer: String) throws {
        var run = try Run.carrying()
        try run.receive(answer, on: .post)
        #expect(run.tunnel.canSend)
        #expect(run.actions == [.connect(.post)])
    }

    @Test func aPostThatEndsIsFollowedByAnotherWithTheNextMessage() throws {
        var run = try Run.carrying()
        _ = run.encode("DESCRIBE")
        run.tunnel.noteArrival()
        #expect(try run.tunnel.ended(.post) == .drop(.post))
        #expect(!run.tunnel.canSend)
        #expect(run.tunnel.reopen() == .connect(.post))
        #expect(run.connect(.post).utf8.suffix(4).elementsEqual("\r\n\r\n".utf8))
        #expect(run.tunnel.canSend)
        #expect(run.tunnel.reopen() == nil)
        // A server that answers after Content-Length bytes.
        _ = run.encode(String(repeating: "x", count: 32_767))
        run.tunnel.noteArrival()
        try run.receive("HTTP/1.1 200 OK\r\n\r\n", on: .post)
        #expect(run.actions.last == .drop(.post))
        #expect(run.tunnel.reopen() == .connect(.post))
    }

    @Test func aPostThatEndsBeforeAnythingWasSentEndsTheTunnel() throws {
        var sent = try Run.carrying()
        _ = sent.encode("DESCRIBE")
        // The answer may be on its way.
        #expect(try sent.tunnel.ended(.post) == .drop(.post))
        #expect(sent.tunnel.reopen() == .connect(.post))
        var run = try Run.carrying()
        let error = #expect(throws: InletError.self) { try run.tunnel.ended(.post) }
        #expect(error?.code == .disconnected)
        // A refusal is one all the same.
        var refused = try Run.carrying()
        _ = refused.encode("DESCRIBE")
        #expect(throws: InletError.self) { try refused.receive("HTTP/1.1 405 No\r\n\r\n", on: .post) }
        var other = try Run()
        _ = other.connect(.get)
        #expect(throws: InletError.self) { try other.tunnel.ended(.get) }
    }

    @Test(
        "A server without a tunnel is an error that states so",
        arguments: [
            ("HTTP/1.1 404 Not Found\r\n\r\n", .notFound), ("HTTP/1.1 403 Forbidden\r\n\r\n", .authenticationFailed),
            ("HTTP/1.1 400 Bad Request\r\n\r\n", .unsupported),
            ("HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n", .unsupported),
            ("HTTP/1.1 503 Busy\r\n\r\n", .serverUnavailable), ("HTTP/1.1 501 No\r\n\r\n", .unsupported),
            ("HTTP/1.1 505 No\r\n\r\n", .unsupported),
            ("RTSP/1.0 400 Bad Request\r\n\r\n", .unsupported), ("RTSP/1.0 200 OK\r\n\r\n", .unsupported),
            ("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>", .unsupported),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", .unsupported),
            ("HTTP/1.1 101 Switching Protocols\r\n\r\n", .unsupported),
            ("GET / RTSP/1.0\r\n\r\n", .malformedData), ("SSH-2.0-OpenSSH_9.2\r\n", .malformedData),
        ] as [(String, InletError.Code)])
    func refusals(_ answer: String, _ code: InletError.Code) throws {
        var run = try Run()
        _ = run.connect(.get)
        let error = #expect(throws: InletError.self) { try run.receive(answer, on: .get) }
        #expect(error?.code == code)
    }

    @Test func noTextShowsCredentialsOrTheCookie() throws {
        var run = try Run(user: "viewer", password: "s3cr3t")
        _ = run.connect(.get)
        try run.receive(Self.basic, on: .get)
        _ = run.connect(.get)
        let error = #expect(throws: InletError.self) { try run.receive(Self.basic, on: .get) }
        var dumped = ""
        dump(run.tunnel, to: &dumped)
        for text in ["\(run.tunnel)", String(reflecting: run.tunnel), dumped, error.map { "\($0)" } ?? ""] {
            for secret in ["viewer", "s3cr3t", "0123456789abcdef", "dmlld2Vy"] { #expect(!text.containsBytes(secret)) }
        }
    }
}

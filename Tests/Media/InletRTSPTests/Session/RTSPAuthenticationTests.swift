import InletCore
import InletRTSP
import Testing

@Suite struct RTSPAuthenticationTests {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func authentication(
        _ user: String = "myuser", _ password: String = "mypass", nonce: String = "0a4f113b"
    ) -> RTSPAuthentication {
        RTSPAuthentication(
            credentials: RTSPCredentials(user: bytes(user), password: bytes(password)), clientNonce: bytes(nonce))
    }

    private static func answer(
        _ challenges: [String], method: RTSPMethod = .setup, uri: String = "rtsp://myhost/mypath?key=val/trackID=3"
    ) -> String? {
        var authentication = authentication()
        _ = authentication.take(challenges: challenges.map { bytes($0) }, sent: nil, wasAnsweringChallenge: false)
        return authentication.authorization(method: method, uri: bytes(uri)).map { String(decoding: $0, as: UTF8.self) }
    }

    private static let nonce = "nonce=\"f49ac6dd0ba708d4becddc9692d1f2ce\""
    private static let md5 = "response=\"ba6e9cccbfeb38db775378a0a9067ba5\""
    private static let sha = "response=\"e298296ce35c9ab79699c8f3f9508944c1be9395e892f8205b6d66f1b8e663ee\""

    /// bluenviron/gortsplib, pkg/auth/sender_test.go at 9b93574, MIT; the last five are its cases in one line, in
    /// another order or spelling.
    private static let vectors: [([String], String)] = [
        (["Basic realm=testrealm"], "Basic bXl1c2VyOm15cGFzcw=="),
        (["Digest realm=\"myrealm\", \(nonce)"], md5),
        (["Digest realm=\"myrealm\", \(nonce), algorithm=\"MD5\""], md5),
        (["Digest realm=\"myrealm\", \(nonce), algorithm=\"SHA-256\""], sha),
        (["Basic realm=testrealm", "Digest realm=\"myrealm\", \(nonce)"], md5),
        (
            [
                "Basic realm=testrealm", "Digest realm=\"myrealm\", \(nonce), algorithm=\"MD5\"",
                "Digest realm=\"myrealm\", \(nonce), algorithm=\"SHA-256\"",
            ], sha
        ),
        (["Digest realm=\"myrealm\", \(nonce), algorithm=SHA-256, Basic realm=testrealm"], sha),
        (["Basic realm=\"a, b\", Digest realm=\"myrealm\", \(nonce)"], md5),
        (["digest REALM=\"myrealm\" , \(nonce), stale=\"FALSE\""], md5),
        (["Digest realm=\"myrealm\" \(nonce) algorithm=MD5"], md5),
        (["Digest algorithm=SHA-512-256, realm=\"x\", nonce=\"y\"", "Digest realm=\"myrealm\", \(nonce)"], md5),
    ]

    @Test("The strongest known challenge is answered", arguments: vectors)
    func vector(_ challenges: [String], _ expected: String) {
        #expect(Self.answer(challenges)?.containsBytes(expected) == true)
    }

    @Test func protectionQualityIsUsedOnlyIfOffered() {
        let plain = Self.answer(["Digest realm=\"myrealm\", \(Self.nonce)"])
        #expect(plain?.containsBytes("qop") == false)
        #expect(plain?.containsBytes("cnonce") == false)
        #expect(plain?.containsBytes("algorithm") == false)
        #expect(Self.answer(["Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\""])?.containsBytes("qop") == false)
    }

    /// An example of an RFC, which states all inputs.
    struct Example: Sendable {
        var challenge: String
        var password: String
        var clientNonce: String
        var method: String
        /// The answers with the first and the second use of the nonce; nil if not stated.
        var responses: [String?]
    }

    private static let old =
        "Digest realm=\"testrealm@host.com\", qop=\"auth,auth-int\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\""
    private static let new =
        "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", "
        + "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\""
    private static let newClientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

    /// RFC 2617, section 3.5, and RFC 7616, section 3.9.1. Python's hashlib, which gives the same for the first
    /// example, gave the second answers and those for OPTIONS.
    private static let examples: [Example] = [
        Example(
            challenge: old, password: "Circle Of Life", clientNonce: "0a4f113b", method: "GET",
            responses: ["6629fae49393a05397450978507c4ef1"]),
        Example(
            challenge: new + ", algorithm=MD5", password: "Circle of Life", clientNonce: newClientNonce, method: "GET",
            responses: ["8ca523f5e9506fed4657c9700eebdbec"]),
        Example(
            challenge: new + ", algorithm=SHA-256", password: "Circle of Life", clientNonce: newClientNonce,
            method: "GET", responses: ["753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"]),
        Example(
            challenge: old, password: "Circle Of Life", clientNonce: "0a4f113b", method: "OPTIONS",
            responses: ["cb59c5277a3fd40023cf6c1362027107", "ce1e5e596d7a888493050ee659309e18"]),
        Example(
            challenge: old + ", algorithm=MD5-sess", password: "Circle Of Life", clientNonce: "0a4f113b",
            method: "OPTIONS", responses: ["101b95b06b5d565de8eb6e2d5eb2e046", "a5d805e9fc22f2c31ddbc267492dba40"]),
        Example(
            challenge: old + ", algorithm=SHA-256-sess", password: "Circle Of Life", clientNonce: "0a4f113b",
            method: "OPTIONS",
            responses: [
                "c8b5c3a839444d3fa36d2550b63cda9a6a4a06f8f390543771f36b42a40907e6",
                "68b5ab38192c53d2669544fc3cff83c1907da45852cb9ac30e2b846fe2c85583",
            ]),
    ]

    @Test("The answer with qop matches the RFCs, and counts the uses of the nonce", arguments: examples)
    func example(_ example: Example) {
        var authentication = Self.authentication("Mufasa", example.password, nonce: example.clientNonce)
        let challenge = example.challenge + ", opaque=\"5ccc069c403ebaf9f0171e9517f40e41\""
        _ = authentication.take(challenges: [Self.bytes(challenge)], sent: nil, wasAnsweringChallenge: false)
        for (index, response) in example.responses.enumerated() {
            let text = authentication.authorization(
                methodName: Self.bytes(example.method), uri: Self.bytes("/dir/index.html")
            )
            .map { String(decoding: $0, as: UTF8.self) }
            #expect(text?.containsBytes("response=\"\(response ?? "")\"") == true)
            #expect(text?.containsBytes("qop=auth, nc=0000000\(index + 1), cnonce=\"\(example.clientNonce)\"") == true)
            #expect(text?.containsBytes("opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"") == true)
        }
    }

    @Test func quotesInNamesAreEscaped() {
        var authentication = Self.authentication("a\"b\\c", "p")
        _ = authentication.take(
            challenges: [Self.bytes("Digest realm=\"x\\\"y\", nonce=\"n\"")], sent: nil, wasAnsweringChallenge: false)
        let text = authentication.authorization(method: .play, uri: [0x2A]).map { String(decoding: $0, as: UTF8.self) }
        #expect(text?.containsBytes("username=\"a\\\"b\\\\c\", realm=\"x\\\"y\"") == true)
    }

    // MARK: Refusals

    @Test(
        "An unsupported challenge is reported",
        arguments: [
            ([], RTSPAuthentication.Outcome.noUsableScheme), (["Negotiate"], .noUsableScheme),
            (["Digest realm=\"r\""], .noUsableScheme),
            (["Digest realm=\"r\", nonce=\"n\", algorithm=FOO"], .noUsableScheme),
            (["Basic"], .retry),
        ])
    func outcome(_ challenges: [String], _ expected: RTSPAuthentication.Outcome) {
        var authentication = Self.authentication()
        let outcome = authentication.take(
            challenges: challenges.map { Self.bytes($0) }, sent: nil, wasAnsweringChallenge: false)
        #expect(outcome == expected)
    }

    @Test func eachNonceIsTriedOnce() {
        var authentication = Self.authentication()
        func take(_ nonce: String, stale: Bool = false, answering: Bool = false) -> RTSPAuthentication.Outcome {
            let sent = authentication.authorization(method: .play, uri: [0x2A])
            return authentication.take(
                challenges: [Self.bytes("Digest realm=\"r\", nonce=\"\(nonce)\"\(stale ? ", stale=TRUE" : "")")],
                sent: sent, wasAnsweringChallenge: answering)
        }
        #expect(take("a") == .retry)
        #expect(take("a", answering: true) == .refused)
        authentication.noteSuccess()
        #expect(take("b") == .retry)
        #expect(take("c", stale: true, answering: true) == .retry)
        #expect(take("d", answering: true) == .refused)
    }

    @Test("A refused algorithm is replaced by the other one, once, and the one that works is kept")
    func otherAlgorithm() {
        func offers(_ nonce: Int) -> [[UInt8]] {
            ["SHA-256", "MD5"].map { Self.bytes("Digest realm=\"r\", nonce=\"\($0)-\(nonce)\", algorithm=\($0)") }
        }
        func answer(_ authentication: inout RTSPAuthentication) -> [UInt8]? {
            authentication.authorization(method: .describe, uri: [0x2A])
        }
        func uses(_ text: [UInt8]?, _ nonce: String) -> Bool {
            String(decoding: text ?? [], as: UTF8.self).containsBytes("nonce=\"\(nonce)\"")
        }
        var first = Self.authentication()
        #expect(first.take(challenges: offers(1), sent: nil, wasAnsweringChallenge: false) == .retry)
        var sent = answer(&first)
        #expect(uses(sent, "SHA-256-1"))
        #expect(first.take(challenges: offers(2), sent: sent, wasAnsweringChallenge: true) == .retry)
        sent = answer(&first)
        #expect(uses(sent, "MD5-2"))
        // A wrong password is refused with both, which teaches nothing.
        var wrong = first
        #expect(wrong.take(challenges: offers(3), sent: sent, wasAnsweringChallenge: true) == .refused)
        wrong.reset()
        #expect(wrong.memory == RTSPAuthentication.Memory())
        first.noteSuccess()
        // A nonce that has become too old, another connection, and another session.
        #expect(first.take(challenges: offers(4), sent: sent, wasAnsweringChallenge: false) == .retry)
        #expect(uses(answer(&first), "MD5-4"))
        first.reset()
        #expect(first.take(challenges: offers(5), sent: nil, wasAnsweringChallenge: false) == .retry)
        #expect(uses(answer(&first), "MD5-5"))
        var next = RTSPAuthentication(
            credentials: RTSPCredentials(user: [0x75], password: [0x70]), memory: first.memory)
        #expect(next.take(challenges: offers(6), sent: nil, wasAnsweringChallenge: false) == .retry)
        #expect(uses(answer(&next), "MD5-6"))
        // If nothing else is offered, the algorithm is tried again; Basic is no replacement.
        // An algorithm that was accepted before is not replaced: the password has changed.
        sent = answer(&first)
        var changed = first
        #expect(changed.take(challenges: offers(9), sent: sent, wasAnsweringChallenge: true) == .refused)
        next.reset()
        let basic = Self.bytes("Basic realm=\"r\"")
        #expect(next.take(challenges: [offers(7)[0], basic], sent: nil, wasAnsweringChallenge: false) == .retry)
        sent = answer(&next)
        #expect(uses(sent, "SHA-256-7"))
        #expect(next.take(challenges: [offers(8)[0], basic], sent: sent, wasAnsweringChallenge: true) == .refused)
    }

    @Test(arguments: 0..<2000)
    func mutatedChallengesDoNoHarm(_ seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var text = Self.bytes(
            "Basic realm=\"a\", Digest realm=\"x \\\"y\\\\\", nonce=\"n\", qop=\"auth,auth-int\", algorithm=SHA-256")
        for _ in 0..<Int.random(in: 1...10, using: &random) {
            let index = Int.random(in: text.indices, using: &random)
            text[index] = [0x22, 0x5C, 0x2C, 0x3D, 0x20, 0, 0xFF, 0x44].randomElement(using: &random) ?? 0
        }
        var authentication = Self.authentication()
        _ = authentication.take(challenges: [text, Array(text.dropFirst(9))], sent: nil, wasAnsweringChallenge: false)
        let answer = authentication.authorization(method: .describe, uri: [0x2A]) ?? []
        #expect(answer.count < 2000)
    }
}

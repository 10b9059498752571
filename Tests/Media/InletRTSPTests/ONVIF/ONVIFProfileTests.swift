import InletCore
import InletRTSP
import Testing

/// The search for profiles and the addresses of their streams, answer by answer.
@Suite struct ONVIFProfileTests {
    /// Lets a session converse with a device that answers each operation with one body.
    private func run(
        _ goal: ONVIFSession.Goal, _ answers: [String: String], device: String = "http://camera/onvif/device_service"
    ) throws -> (session: ONVIFSession, names: [String]) {
        let url = try RTSPURL(service: Array(device.utf8))
        var session = ONVIFSession(ONVIFSession.Settings(device: url, goal: goal))
        var names: [String] = []
        while let exchange = session.next(wantsKeyFrame: false, at: 0, nonce: []), names.count < 100 {
            let name = "\(exchange.request.name)"
            names.append(name)
            let body = answers[name].map {
                "<Envelope><Body><\(name)Response>\($0)</\(name)Response></Body></Envelope>"
            }
            _ = try session.take(
                RTSPResponse(
                    status: body == nil ? 400 : 200, headers: RTSPHeaders([]), body: Array((body ?? "").utf8),
                    isHTTP: true), at: 0)
        }
        return (session, names)
    }

    private static let services =
        "<Service><Namespace>http://www.onvif.org/ver10/media/wsdl</Namespace><XAddr>http://camera/m</XAddr></Service>"

    private static func profile(_ token: String, _ name: String, _ size: String = "640x480", rate: String = "25")
        -> String
    {
        let parts = size.split(separator: "x", omittingEmptySubsequences: false)
        return """
            <Profiles token="\(token)"><Name>\(name)</Name><VideoEncoderConfiguration><Encoding>H264</Encoding>
            <Resolution><Width>\(parts[0])</Width><Height>\(parts[1])</Height></Resolution>
            <RateControl><FrameRateLimit>\(rate)</FrameRateLimit></RateControl></VideoEncoderConfiguration></Profiles>
            """
    }

    private func answers(_ profiles: String, _ uri: String = "rtsp://camera:554/s") -> [String: String] {
        [
            "GetServices": Self.services, "GetProfiles": profiles,
            "GetStreamUri": "<MediaUri><Uri>\(uri)</Uri></MediaUri>",
        ]
    }

    @Test func whatDevicesStateIsCheckedAndSafeOnATerminal() throws {
        let odd =
            Self.profile("a", "x\u{1B}[2J", "0x480", rate: "inf") + Self.profile("b", "", "70000x1", rate: "-1")
            + Self.profile("c", "Main", "1920x1080", rate: "29.97") + "<Profiles><Name>no token</Name></Profiles>"
            + Self.profile(String(repeating: "t", count: 300), "long")
        let (session, names) = try run(.profiles, answers(odd))
        let found = try #require(session.found)
        #expect(found.map(\.title) == ["x\\u{1B}[2J", "b", "Main"])
        #expect(found.map(\.size) == [nil, nil, ImageSize(width: 1920, height: 1080)])
        #expect(found.map(\.frameRate) == [nil, nil, 29.97])
        #expect(names == ["GetServices", "GetProfiles"] + Array(repeating: "GetStreamUri", count: 3))
        let many = (0..<1000).map { Self.profile("\($0)", "n") }.joined()
        #expect(try run(.profiles, answers(many)).session.found?.count == 32)
        #expect(try run(.profiles, answers("")).session.found == [])
    }

    @Test(
        "A stream address is an RTSP address at the device, without credentials",
        arguments: [
            ("rtsp://camera/s", "rtsp://camera/s"), ("rtsp://192.0.2.7:8554/s?a=1", "rtsp://camera:8554/s?a=***"),
            (" rtsp://u:s3cr3t@evil.example/s ", "rtsp://camera/s"), ("rtsps://camera/s", "rtsps://camera/s"),
            ("http://camera/s", nil), ("/s", nil), ("", nil), ("rtsp://", nil),
        ] as [(String, String?)])
    func address(_ it: (stated: String, expected: String?)) throws {
        let (session, _) = try run(.profiles, answers(Self.profile("a", "n"), it.stated))
        #expect(session.found?.first?.address.map { "\($0)" } == it.expected)
    }

    @Test func theProfileIsTheFirstOrTheNamedOneAndAnErrorSaysWhichThereAre() throws {
        let two = answers(Self.profile("t0", "Main", "1920x1080") + Self.profile("t1", "Sub stream"))
        for (wanted, token) in [(nil, "t0"), ("Sub stream", "t1"), ("t1", "t1"), ("Main", "t0")] as [(String?, String)]
        {
            let (session, names) = try run(.profile(named: wanted.map { Array($0.utf8) }), two)
            #expect(try session.chosenProfile().profile.token == Array(token.utf8))
            #expect(names == ["GetServices", "GetProfiles", "GetStreamUri"])
        }
        let absent = #expect(throws: InletError.self) { try run(.profile(named: Array("sub".utf8)), two) }
        #expect(absent?.code == .notFound)
        #expect(absent?.message.contains("It has: Main (1920x1080), Sub stream (640x480).") == true)
        #expect(throws: InletError.self) { try run(.profile(named: nil), answers("")) }
        // A device that states no address for it is asked once.
        let (session, names) = try run(.profile(named: nil), two.filter { $0.key != "GetStreamUri" })
        #expect(names.count == 3)
        let missing = #expect(throws: InletError.self) { try session.chosenProfile() }
        #expect(missing?.message.contains("no RTSP address for the profile 'Main'") == true)
    }

    @Test("A name that several profiles share is refused with their tokens, and a token has priority over a name")
    func sharedName() throws {
        let channels = (1...16).map { Self.profile("token-\($0)", "main") }.joined()
        let all = answers(channels + Self.profile("other", "token-3") + Self.profile("last", "Last"))
        let shared = #expect(throws: InletError.self) { try run(.profile(named: Array("main".utf8)), all) }
        #expect(shared?.code == .invalidConfiguration)
        #expect(shared?.message.contains("16 profiles") == true && shared?.message.contains("token-16") == true)
        for (wanted, token) in [("token-3", "token-3"), ("token-16", "token-16"), ("Last", "last")] {
            let (session, names) = try run(.profile(named: Array(wanted.utf8)), all)
            #expect(try session.chosenProfile().profile.token == Array(token.utf8))
            #expect(names.count == 3)
        }
    }

    @Test("One of hundreds of profiles is found by its token")
    func manyProfiles() throws {
        let many = answers((1...256).map { Self.profile("token-\($0)", "main") }.joined())
        let (session, _) = try run(.profile(named: Array("token-256".utf8)), many)
        #expect(try session.chosenProfile().profile.token == Array("token-256".utf8))
    }

    @Test(
        "A device is named by host, host:port, or address",
        arguments: [
            ("camera", "http://camera/onvif/device_service"),
            ("192.0.2.7:8080", "http://192.0.2.7:8080/onvif/device_service"),
            ("[fe80::1%25eth0]:80", "http://[fe80::1]:80/onvif/device_service"),
            ("https://camera/x?token=s3cr3t", "https://camera/x?token=***"),
            ("me:s3cr3t@camera", nil), ("camera:x", nil), ("rtsp://camera/", nil), ("", nil),
        ] as [(String, String?)])
    func device(_ it: (text: String, expected: String?)) {
        #expect((try? RTSPURL(device: Array(it.text.utf8)))?.serviceText == it.expected)
    }
}

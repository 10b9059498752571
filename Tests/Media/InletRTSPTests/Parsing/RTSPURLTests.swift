import InletCore
import InletRTSP
import Testing

@Suite struct RTSPURLTests {
    private static func address(_ text: String) throws -> RTSPURL { try RTSPURL(Array(text.utf8)) }

    private static func text(_ url: RTSPURL?) -> String? { url.map { String(decoding: $0.requestURI, as: UTF8.self) } }

    /// The first three are from AlexxIT/go2rtc, pkg/rtsp/rtsp_test.go at dc1685e, MIT.
    private static let addresses: [(String, String, UInt16)] = [
        ("rtsp://::ffff:192.168.1.123/onvif/profile.1/", "rtsp://[::ffff:192.168.1.123]/onvif/profile.1/", 554),
        ("rtsp://rtsp://turret2-cam.lan:554/stream1/", "rtsp://turret2-cam.lan:554/stream1/", 554),
        ("192.168.253.220:1935/", "rtsp://192.168.253.220:1935/", 1935),
        ("rtsp://::ffff:1.2.3.4:8554/x", "rtsp://[::ffff:1.2.3.4]:8554/x", 8554),
        ("rtsp://fe80::1/x", "rtsp://[fe80::1]/x", 554), ("rtsp://fe80::1:/x", "rtsp://[fe80::1]/x", 554),
        ("rtsp://[fe80::a8f4%wl0]:8554/x", "rtsp://[fe80::a8f4]:8554/x", 8554),
        ("RTSPS://Cam/x?y=z", "rtsps://Cam/x?y=z", 322), ("rtsp://cam", "rtsp://cam", 554),
        ("rtsp://cam:/x", "rtsp://cam/x", 554), ("rtsp://cam?x", "rtsp://cam?x", 554),
        ("rtsp://rtsps://cam/x", "rtsps://cam/x", 322), (" rtsp://cam/a b ", "rtsp://cam/a%20b", 554),
        ("cam/x", "rtsp://cam/x", 554),
    ]

    @Test("Addresses are read and repaired", arguments: addresses)
    func repaired(_ text: String, _ expected: String, _ port: UInt16) throws {
        let url = try Self.address(text)
        #expect(Self.text(url) == expected)
        #expect(url.port == port)
        #expect(url.credentials == nil)
    }

    @Test(
        "An address that is not RTSP is refused",
        arguments: [
            "", "rtsp://", "http://host/x", "rtsp:///x", "rtsp://cam:0/", "rtsp://cam:99999/", "rtsp://cam:x/",
            "rtsp://[::1/x", "rtsp://user@/x", "rtsp://a:b:c/x", "rtsp://ca m/x",
        ])
    func refused(_ text: String) {
        #expect(throws: InletError.self) { try Self.address(text) }
    }

    @Test(
        "The zone of an address is for the system only (RFC 6874)",
        arguments: [
            ("rtsp://[fe80::1%25eth0]/x", "fe80::1%eth0"), ("rtsp://u:p@[fe80::1%eth0]:80/x", "fe80::1%eth0"),
            ("rtsp://[fe80::1%25e%2dx]/x", "fe80::1%e-x"), ("rtsp://[fe80::1%25]/x", "fe80::1%25"),
            ("rtsp://[fe80::1%]/x", "fe80::1"), ("rtsp://[fe80::1]/x", "fe80::1"),
            ("rtsp://cam%25eth0/x", "cam%25eth0"),
        ])
    func zone(_ text: String, _ host: String) throws {
        let url = try Self.address(text)
        #expect(String(decoding: url.hostWithZone, as: UTF8.self) == host)
        #expect(Self.text(url)?.contains("[fe80::1]") == !text.contains("cam"))
    }

    @Test(
        "A server's link-local addresses use the interface of its connection, and none that it names",
        arguments: [
            ("rtsp://[fe80::2]/y", "fe80::2%eth0"), ("rtsp://[FEBF::2%25eth1]/y", "FEBF::2%eth0"),
            ("rtsp://[fec0::2]/y", "fec0::2"), ("rtsp://[2001:db8::1%25eth1]/y", "2001:db8::1"), ("/y", "fe80::1%eth0"),
            ("rtsp://fe80.example/y", "fe80.example"),
        ])
    func redirectedZone(_ location: String, _ host: String) throws {
        let target = try Self.address("rtsp://[fe80::1%25eth0]/x").redirected(to: Array(location.utf8))
        #expect(target.map { String(decoding: $0.hostWithZone, as: UTF8.self) } == host)
    }

    private static let withCredentials: [(String, String, String, String)] = [
        ("rtsp://user:pa%23ss@cam/x", "user", "pa#ss", "rtsp://cam/x"),
        ("rtsp://user:p@ss/word@cam:8554/x", "user", "p@ss/word", "rtsp://cam:8554/x"),
        ("rtsp://user:p?w@cam/x", "user", "p?w", "rtsp://cam/x"),
        ("rtsp://user@cam/x?a=b@c", "user", "", "rtsp://cam/x?a=b@c"),
        ("rtsp://u:1:2@[::1]:554/x", "u", "1:2", "rtsp://[::1]:554/x"),
        ("rtsp://admin:12345@cam", "admin", "12345", "rtsp://cam"),
    ]

    @Test("Credentials are removed", arguments: withCredentials)
    func credentials(_ text: String, _ user: String, _ password: String, _ rest: String) throws {
        let url = try Self.address(text)
        #expect(url.credentials == RTSPCredentials(user: Array(user.utf8), password: Array(password.utf8)))
        #expect(Self.text(url) == rest)
    }

    @Test func noDescriptionShowsASecret() throws {
        let url = try Self.address("rtsp://geheim1:geheim2@cam/x?password=geheim3")
        var dumped = ""
        dump(url, to: &dumped)
        var configuration = RTSPSessionConfiguration(url: url)
        configuration.credentials = url.credentials
        let challenge = "Digest realm=\"r\", nonce=\"geheim4\""
        let headers = RTSPHeaders([
            ("Authorization", "Basic geheim5"), ("WWW-Authenticate", challenge), ("Session", "geheim6"),
        ])
        let request = RTSPRequest(method: [0x41], uri: Array("rtsp://u:geheim7@cam/x".utf8), headers: headers)
        let response = RTSPResponse(status: 401, headers: headers)
        dump(configuration, to: &dumped)
        dump(headers, to: &dumped)
        dump(request.headers, to: &dumped)
        var authentication = RTSPAuthentication(credentials: url.credentials)
        _ = authentication.take(challenges: [Array(challenge.utf8)], sent: nil, wasAnsweringChallenge: false)
        dump(authentication, to: &dumped)
        dump(SessionHeader(Array("geheim8".utf8)), to: &dumped)
        var session = RTSPSession(configuration)
        let actions = session.handle(.connected, at: MonotonicTime(nanoseconds: 0))
        dump(session, to: &dumped)
        for text in [
            "\(url)", String(reflecting: url), dumped, "\(headers)", "\(request)", "\(response)",
            String(reflecting: request), "\(configuration)", String(reflecting: configuration), "\(authentication)",
            "\(session)", String(reflecting: session), "\(actions)",
        ] {
            #expect(!text.containsBytes("geheim"), "\(text)")
            // The same as a list of numbers: 103 is g, 101 is e.
            #expect(!text.containsBytes("103, 101"), "\(text)")
        }
    }

    // MARK: Base and control

    private static let bases: [(String?, String?, String?, String)] = [
        (nil, nil, nil, "rtsp://cam:8554/live?x=1"),
        ("rtsp://cam:8554/live/", nil, nil, "rtsp://cam:8554/live/"),
        ("rtsp://10.0.0.9/other/", "rtsp://cam/location", nil, "rtsp://cam:8554/other/"),
        (nil, "rtsp://cam/location", nil, "rtsp://cam:8554/location"),
        ("", "/path/", nil, "rtsp://cam:8554/path/"), ("/only/path/", nil, nil, "rtsp://cam:8554/only/path/"),
        ("rtsp://rtsp://cam/x/", nil, nil, "rtsp://cam:8554/x/"),
        ("192.168.253.220:1935/", nil, nil, "rtsp://cam:8554/"), ("cam/y/", nil, nil, "rtsp://cam:8554/y/"),
        ("http://cam/y/", nil, nil, "rtsp://cam:8554/live?x=1"), ("nonsense", nil, nil, "rtsp://cam:8554/live?x=1"),
        ("rtsp://cam/a/", nil, "rtsp://1.2.3.4/session/", "rtsp://cam:8554/session/"),
        ("rtsp://cam/a/", nil, "*", "rtsp://cam:8554/a/"),
    ]

    @Test("The base keeps the connection's host", arguments: bases)
    func base(_ contentBase: String?, _ location: String?, _ control: String?, _ expected: String) throws {
        let base = try Self.address("rtsp://cam:8554/live?x=1").base(
            contentBase: contentBase.map { Array($0.utf8) }, contentLocation: location.map { Array($0.utf8) },
            sessionControl: control.map { Array($0.utf8) })
        #expect(Self.text(base) == expected)
    }

    /// The first candidates of all but the last four are from bluenviron/gortsplib, pkg/description/media_test.go at
    /// 9b93574, MIT.
    private static let controls: [(String, String?, [String])] = [
        ("rtsp://h:554/path/", nil, ["rtsp://h:554/path/"]),
        ("rtsp://h:554/", "rtsp://localhost/path/trackID=7", ["rtsp://h:554/path/trackID=7"]),
        ("rtsps://h:554/", "rtsps://localhost/path/trackID=7", ["rtsps://h:554/path/trackID=7"]),
        ("rtsp://h:554", "/test", ["rtsp://h:554/test"]),
        ("rtsp://h:554/path/", "trackID=5", ["rtsp://h:554/path/trackID=5"]),
        ("rtsp://h:554/sub/path", "trackID=5", ["rtsp://h:554/sub/path/trackID=5", "rtsp://h:554/sub/trackID=5"]),
        (
            "rtsp://h:554/te!st?user=tmp&password=BagRep1!&channel=1&stream=0.sdp", "trackID=5",
            [
                "rtsp://h:554/te!st?user=tmp&password=BagRep1!&channel=1&stream=0.sdp/trackID=5",
                "rtsp://h:554/trackID=5",
            ]
        ),
        ("rtsp://h:554/test", "?ctype=video", ["rtsp://h:554/test?ctype=video"]),
        ("rtsp://h:554/", "?ctype=video", ["rtsp://h:554/?ctype=video"]),
        ("rtsp://h/a/b/", "/c", ["rtsp://h/a/b/c", "rtsp://h/c"]), ("rtsp://h/a", "*", ["rtsp://h/a"]),
        ("rtsp://h/a/b?q=1", "../c?d/e", ["rtsp://h/a/b?q=1/../c?d/e", "rtsp://h/c?d/e"]),
        ("rtsp://h", "x", ["rtsp://h/x"]),
    ]

    @Test("A control is appended first, and resolved second", arguments: controls)
    func control(_ base: String, _ control: String?, _ expected: [String]) throws {
        let candidates = try Self.address(base).candidates(forControl: control.map { Array($0.utf8) })
        #expect(candidates.map { Self.text($0) } == expected)
    }

    @Test func addressOfTheWholeIsTheSessionsControl() throws {
        let base = try Self.address("rtsp://h/a/")
        #expect(Self.text(base.aggregate(control: nil)) == "rtsp://h/a/")
        #expect(Self.text(base.aggregate(control: Array("*".utf8))) == "rtsp://h/a/")
        #expect(Self.text(base.aggregate(control: Array("all".utf8))) == "rtsp://h/a/all")
        #expect(Self.text(base.aggregate(control: Array("rtsp://x/y".utf8))) == "rtsp://h/y")
    }
}

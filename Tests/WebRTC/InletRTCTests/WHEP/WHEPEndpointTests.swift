import InletCore
import Testing

@testable import InletRTC

@Suite struct WHEPEndpointTests {
    static let fragment = "application/trickle-ice-sdpfrag"
    static let candidate = "candidate:1 1 udp 2130706431 127.0.0.1 50000 typ host"

    static func endpoint() -> WHEPEndpoint {
        var endpoint = WHEPEndpoint()
        (endpoint.sessions, endpoint.sessionsPerClient, endpoint.bytes) = (2, 1, 1000)
        return endpoint
    }

    static func decide(
        _ request: WHEPRequest, _ endpoint: WHEPEndpoint = endpoint(), isWhole: Bool = true, count: Int = 1,
        own: Int = 0, wait: Duration? = nil
    ) -> WHEPEndpoint.Decision {
        endpoint.decide(request, isWhole: isWhole, QuotaOccupancy(all: count, own: own, wait: wait)) {
            $0 == "s1" ? WHEPEndpoint.Session(tag: "t1", userFragment: "frag") : nil
        }
    }

    static func status(_ decision: WHEPEndpoint.Decision) -> Int {
        switch decision {
        case .respond(let response), .trickle(_, _, let response), .close(_, let response): response.status
        case .read: 100
        case .open: 201
        }
    }

    static func post(_ type: String? = "application/sdp", body: String = "v=0", length: Int? = nil) -> WHEPRequest {
        WHEPRequest(
            method: "POST", path: "/whep", headers: type.map { ["content-type": $0] } ?? [:], length: length, body: body
        )
    }

    static func patch(
        _ tag: String? = "\"t1\"", type: String = fragment, session: String = "s1", body: String = "a=mid:0"
    ) -> WHEPRequest {
        var headers = ["content-type": type]
        headers["if-match"] = tag
        return WHEPRequest(method: "PATCH", path: "/whep/\(session)", headers: headers, body: body)
    }

    static let table: [(String, WHEPRequest, Int)] = [
        ("an offer", post(), 201), ("its type with parameters", post("Application/SDP; charset=utf-8"), 201),
        ("no type", post(nil), 415),
        ("another type", post("text/plain"), 415), ("JSON", post("application/json"), 415),
        ("too long", post(body: String(repeating: "a", count: 1001)), 413),
        ("said to be too long", post(length: 1001), 413),
        ("as long as may be", post(body: String(repeating: "a", count: 1000)), 201),
        ("options", WHEPRequest(method: "OPTIONS", path: "/whep"), 204),
        ("get", WHEPRequest(method: "GET", path: "/whep"), 405),
        ("put", WHEPRequest(method: "PUT", path: "/whep"), 405),
        ("delete of the endpoint", WHEPRequest(method: "DELETE", path: "/whep"), 405),
        ("patch of the endpoint", WHEPRequest(method: "PATCH", path: "/whep"), 405),
        ("candidates", patch(), 204), ("one of several tags", patch("\"x\", \"t1\""), 204), ("no tag", patch(nil), 428),
        ("another tag", patch("\"t2\""), 412),
        ("a tag without quotes", patch("t1"), 412), ("a weak tag", patch("W/\"t1\""), 412),
        ("a restart", patch("*"), 422),
        ("a restart by credentials", patch(body: "a=ice-ufrag:other\r\na=ice-pwd:p"), 422),
        ("the same credentials", patch(body: "a=ice-ufrag:frag"), 204),
        ("another type of fragment", patch(type: "application/sdp"), 415), ("no fragment", patch(body: "hello"), 400),
        ("an unknown session", patch(session: "s2"), 404), ("below a session", patch(session: "s1/x"), 404),
        ("no session", patch(session: ""), 404),
        ("delete", WHEPRequest(method: "DELETE", path: "/whep/s1"), 200),
        ("delete of another", WHEPRequest(method: "DELETE", path: "/whep/s9"), 404),
        ("get of a session", WHEPRequest(method: "GET", path: "/whep/s1"), 405),
        ("post to a session", WHEPRequest(method: "POST", path: "/whep/s1"), 405),
        ("options of a session", WHEPRequest(method: "OPTIONS", path: "/whep/s1"), 204),
    ]

    @Test("Each request gets its status", arguments: table)
    func status(_ name: String, _ request: WHEPRequest, _ status: Int) {
        #expect(Self.status(Self.decide(request)) == status, "\(name)")
    }

    @Test("A request is refused before its body is read", arguments: table)
    func early(_ name: String, _ request: WHEPRequest, _ status: Int) {
        var head = request
        head.body = ""
        let early = Self.status(Self.decide(head, isWhole: false))
        let isByBody = ["too long", "no fragment", "a restart", "a restart by credentials"].contains(name)
        let takesBody = [201, 204].contains(status) && ["POST", "PATCH"].contains(request.method) || isByBody
        #expect(early == (takesBody ? 100 : status), "\(name)")
    }

    @Test("Too many viewers, too many from one client, and too frequent ones are asked to retry later")
    func limits() {
        for (decision, status, wait) in [
            (Self.decide(Self.post(), count: 2), 503, "5"), (Self.decide(Self.post(), own: 1), 429, "5"),
            (Self.decide(Self.post(), wait: .milliseconds(1200)), 429, "2"),
        ] {
            guard case .respond(let response) = decision else {
                Issue.record("\(decision)")
                continue
            }
            #expect(response.status == status)
            #expect(response.value(of: "retry-after") == wait)
        }
    }

    @Test("An answer has the location, the tag, the format of candidates, and the servers to use")
    func answer() throws {
        var endpoint = Self.endpoint()
        endpoint.servers = [try ICEServer("stun:h"), try ICEServer("turn:h", user: "1:a", password: "p\"q")]
        let response = endpoint.opened("s7", tag: "t7", answer: "v=0", to: Self.post())
        #expect(response.status == 201)
        #expect(response.value(of: "content-type") == "application/sdp")
        #expect(response.value(of: "location") == "/whep/s7")
        #expect(response.value(of: "etag") == "\"t7\"")
        #expect(response.value(of: "accept-patch") == Self.fragment)
        let links = response.headers.filter { $0.name == "link" }.map(\.value)
        #expect(
            links == [
                "<stun:h:3478>; rel=\"ice-server\"",
                "<turn:h:3478>; rel=\"ice-server\"; username=\"1:a\"; credential=\"p\\\"q\"; credential-type=\"password\"",
            ])
        #expect(links.flatMap(LinkHeader.servers) == endpoint.servers)
        #expect(LinkHeader.servers(in: links.joined(separator: ", ")) == endpoint.servers)
    }

    @Test(
        "An offer that cannot be answered gets a status by its reason",
        arguments: [
            (PeerSessionEnd.failed(.malformedDescription), 400), (.failed(.noCommonCodec), 422),
            (.failed(.engine), 500), (.timedOut(.exchanging), 504),
            (.local, 503),
        ])
    func failure(_ end: PeerSessionEnd, _ status: Int) {
        #expect(Self.endpoint().failed(end, to: Self.post()).status == status)
    }

    @Test(
        "Pages of other sites are admitted only if they are named",
        arguments: [
            ([], nil), (["https://b.example"], nil), (["https://a.example"], "https://a.example"),
            (["*"], "https://a.example"),
        ] as [([String], String?)])
    func origins(_ origins: [String], _ allowed: String?) {
        var endpoint = Self.endpoint()
        endpoint.origins = origins
        var preflight = WHEPRequest(method: "OPTIONS", path: "/whep", headers: ["origin": "https://a.example"])
        preflight.headers["access-control-request-method"] = "POST"
        guard case .respond(let response) = Self.decide(preflight, endpoint) else { return }
        #expect(response.value(of: "access-control-allow-origin") == allowed)
        #expect((response.value(of: "access-control-allow-methods") != nil) == (allowed != nil))
        var offer = Self.post()
        offer.headers["origin"] = "https://a.example"
        let answer = endpoint.opened("s", tag: "t", answer: "v=0", to: offer)
        #expect((answer.value(of: "access-control-expose-headers") != nil) == (allowed != nil))
    }

    @Test("Candidates are read with their sections, in order")
    func fragments() throws {
        let text =
            "a=ice-ufrag:frag\r\na=ice-pwd:pwd\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:v\r\na=\(Self.candidate)\r\na=end-of-candidates\r\n"
        let fragment = try TrickleFragment(text)
        #expect(fragment.candidates == [.init(line: Self.candidate, mid: "v")])
        #expect(fragment.isEnd)
        #expect(fragment.userFragment == "frag")
        #expect(throws: PeerSessionFailure.malformedDescription) { try TrickleFragment("a=candidate:1 1 udp") }
        #expect(throws: PeerSessionFailure.limit) { try TrickleFragment(String(repeating: "a=x\n", count: 1002)) }
    }

    @Test("Characters hidden by a combining mark or another Unicode sign are found")
    func unicode() throws {
        let fragment = try TrickleFragment("a=mid:\u{301}v\ra=\(Self.candidate)\u{2028}a=mid:x\r\n")
        #expect(fragment.candidates.map(\.mid) == ["\u{301}v"])
        #expect(fragment.candidates.map(\.line) == [Self.candidate + "\u{2028}a=mid:x"])
        for text in ["a=mid:v\u{0}a=x\r\n", "a= candidate:1\r\n", "\u{b}a=mid:v\r\n", "a\u{301}=mid:v"] {
            #expect(throws: PeerSessionFailure.malformedDescription, "\(text)") { try TrickleFragment(text) }
        }
        // A canonically equivalent tag is a different tag.
        #expect(Self.status(Self.decide(Self.patch("\"t1\u{301}\""))) == 412)
        #expect(Self.status(Self.decide(Self.post("application/sdp\u{301}"))) == 415)
    }
}

import Foundation
import InletCore
import Testing

@testable import InletRTC

/// Damaged signaling: `INLET_MUTATIONS=20000 swift test --filter HostileSignalingTests` reads this number of inputs for
/// each of five kinds; `INLET_SEED=n` sets the seed.
@Suite struct HostileSignalingTests {
    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }
    private static let count = number("INLET_MUTATIONS") ?? 500
    private static let seed = number("INLET_SEED") ?? 1

    /// Damages the corpus `count` times with a seed and passes each result to `read`, which returns whether it was
    /// accepted. Some must be accepted and some refused.
    private static func each(_ kind: String, _ corpus: [String], _ read: (String) -> Bool) {
        var mutator = TextMutator(seed: UInt64(bitPattern: Int64(seed)), corpus: corpus)
        var taken = 0
        for _ in 0..<count { if read(mutator.next()) { taken += 1 } }
        print("\(count) spoilt \(kind) from seed \(seed): \(taken) were taken, \(count - taken) refused.")
        #expect(taken > 0 && taken < count, "\(taken) of \(count)")
    }

    @Test("An accepted offer has numbers within RTP's limits, and text without line breaks")
    func offers() {
        let corpus = [
            VideoOfferTests.offer(), VideoOfferTests.offer(direction: "sendrecv"),
            VideoOfferTests.offer(session: "a=ice-lite\r\na=ice-ufrag:Up\r\na=ice-pwd:secretsecretsecretsecret\r\n"),
        ]
        let codecs: [VideoCodec] = [.h264, .vp8, .vp9, .av1, .hevc]
        Self.each("offers", corpus) { text in
            guard let offer = try? VideoOffer(text) else { return false }
            #expect((0..<16).contains(offer.section))
            #expect(offer.payloads.allSatisfy { (0...127).contains($0.type) && !$0.name.isEmpty })
            #expect(offer.extensions.values.allSatisfy { (1...14).contains($0) })
            #expect((offer.userFragment + offer.mid).utf8.allSatisfy { $0 >= 0x20 || $0 == 9 })
            #expect(Set(offer.payloads.map(\.type)).count == offer.payloads.count)
            for codec in codecs {
                if let payload = offer.payload(for: codec) { #expect(offer.payloads.contains(payload)) }
            }
            return true
        }
    }

    @Test("An accepted fragment has candidates of one line each, and not too many")
    func fragments() {
        let candidate = "a=candidate:842163049 1 udp 1677729535 203.0.113.7 46154 typ srflx raddr 10.0.0.7 rport 46154"
        let corpus = [
            "a=ice-ufrag:Zr4X\r\na=ice-pwd:secretsecretsecretsecret\r\na=mid:1\r\n\(candidate)\r\na=end-of-candidates\r\n",
            "a=mid:0\r\n\(candidate)\r\n\(candidate.replacing(" udp ", with: " tcp ")) tcptype active\r\n",
            String(repeating: candidate + " generation 0 ufrag Zr4X network-cost 999\r\n", count: 30),
        ]
        Self.each("fragments", corpus) { text in
            guard let fragment = try? TrickleFragment(text) else { return false }
            #expect(fragment.candidates.count <= 1000)
            #expect(
                fragment.candidates.allSatisfy {
                    $0.line.utf8.starts(with: "candidate:".utf8) && $0.line.utf8.allSatisfy { $0 >= 0x20 || $0 == 9 }
                }
            )
            return true
        }
    }

    @Test("Whatever a request holds, its response has a documented status, and no header has a line break")
    func requests() {
        var endpoint = WHEPEndpoint()
        endpoint.origins = ["https://example.org"]
        let known = WHEPEndpoint.Session(tag: "5e55", userFragment: "Zr4X")
        // Each request is a text, so that mutations affect all parts equally.
        let requests = [
            ("POST", "/whep", "application/sdp", "-", VideoOfferTests.offer()),
            ("PATCH", "/whep/1", WHEPEndpoint.fragmentType, "\"5e55\"", "a=mid:1\r\na=end-of-candidates\r\n"),
            ("PATCH", "/whep/1", WHEPEndpoint.fragmentType, "*", "a=ice-ufrag:new\r\na=ice-pwd:p\r\n"),
            ("DELETE", "/whep/1", "", "", ""), ("OPTIONS", "/whep", "", "", ""),
        ]
        let corpus = requests.map { "\($0)\u{0}\($1)\u{0}\($2)\u{0}\($3)\u{0}https://example.org\u{0}\($4)" }
        let documented: Set = [200, 204, 400, 404, 405, 412, 413, 415, 422, 428, 429, 503]
        Self.each("requests", corpus) { text in
            let parts = text.split(separator: "\u{0}", maxSplits: 5, omittingEmptySubsequences: false).map(String.init)
            func part(_ index: Int) -> String { index < parts.count ? parts[index] : "" }
            let request = WHEPRequest(
                method: part(0), path: "/whep" + part(1).dropFirst(5),
                headers: ["content-type": part(2), "if-match": part(3), "origin": part(4)], body: part(5))
            for isWhole in [false, true] {
                let decision = endpoint.decide(request, isWhole: isWhole, QuotaOccupancy(all: 3)) {
                    $0 == "1" ? known : nil
                }
                let response: WHEPResponse
                switch decision {
                case .respond(let refusal): response = refusal
                case .trickle(let session, _, let reply), .close(let session, let reply):
                    #expect(session == "1")
                    response = reply
                case .read(let bytes):
                    #expect(!isWhole && bytes == endpoint.bytes)
                    continue
                case .open:
                    #expect(isWhole)
                    return true
                }
                #expect(documented.contains(response.status), "\(response.status)")
                // The response contains only the request's origin, and only if that is known.
                let lines = response.headers.map { $0.name + $0.value }
                #expect(lines.allSatisfy { line in line.allSatisfy { !$0.isNewline } })
                if response.status < 300 { return true }
            }
            return false
        }
    }

    @Test("An accepted ICE server is written in a form that reads the same, in URIs and in Link headers")
    func servers() {
        let corpus = [
            "stun:stun.example.org:3478", "turn:[2001:db8::1]:99?transport=tcp", "turns:relay.example.org",
            "TURN:10.0.0.1?transport=udp",
        ]
        Self.each("servers", corpus) { text in
            guard let server = try? ICEServer(text, user: "1:\(text)", password: "p@s\"\\,;<>") else { return false }
            #expect((1...65535).contains(server.port))
            #expect((try? ICEServer(server.uri, user: server.user, password: server.password)) == server)
            #expect(server.engineURI.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f })
            if !text.contains(where: \.isNewline) {
                #expect(LinkHeader.servers(in: LinkHeader.text(server)) == [server])
            }
            return true
        }
    }

    @Test("Damaged server replies are accepted or refused, and a wait is never longer than an hour")
    func replies() {
        let link =
            "<turn:h:99?transport=tcp>; rel=\"ice-server\"; username=\"1:a\"; credential=\"p\\\"s\", <stun:h>; rel=ice-server"
        let corpus = [201, 307, 503, 401].map {
            "\($0)\u{0}application/sdp\u{0}/whip/1\u{0}\"tag\"\u{0}\(link)\u{0}17\u{0}v=0"
        }
        Self.each("replies", corpus) { text in
            let parts = text.split(separator: "\u{0}", maxSplits: 6, omittingEmptySubsequences: false).map(String.init)
            func part(_ index: Int) -> String { index < parts.count ? parts[index] : "" }
            let names = ["content-type", "location", "etag", "link", "retry-after"]
            let response = WHEPResponse(
                status: Int(part(0)) ?? 0,
                headers: names.enumerated().map { WHEPResponse.Header($1, part($0 + 1)) }, body: part(6))
            switch WHIPReply(response) {
            case .accepted(let session):
                #expect(!session.location.isEmpty && !session.answer.isEmpty)
                #expect(session.tag?.contains("\"") != true)
                return true
            case .redirected(let place):
                #expect(!place.isEmpty)
                return true
            case .refused(let refusal):
                #expect((refusal.retryAfter ?? .zero) <= .seconds(3600) && (refusal.retryAfter ?? .zero) >= .zero)
                return false
            }
        }
    }
}

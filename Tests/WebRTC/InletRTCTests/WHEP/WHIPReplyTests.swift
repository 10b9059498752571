import InletCore
import Testing

@testable import InletRTC

@Suite struct WHIPReplyTests {
    static func response(_ status: Int, _ headers: [(String, String)] = [], body: String = "") -> WHEPResponse {
        WHEPResponse(status: status, headers: headers.map { .init($0.0, $0.1) }, body: body)
    }

    @Test("An answer is accepted with its location, tag and servers")
    func accepted() throws {
        let reply = WHIPReply(
            Self.response(
                201,
                [
                    ("content-type", "application/sdp"), ("location", "/s/1"), ("etag", "\"x\""),
                    ("link", "<stun:h>; rel=ice-server, <http://h/>; rel=\"next\""),
                ],
                body: "v=0"))
        #expect(
            reply == .accepted(.init(answer: "v=0", location: "/s/1", tag: "x", servers: [try ICEServer("stun:h")])))
    }

    static let refusals: [(Int, InletError.Code, Bool)] = [
        (200, .malformedData, false), (201, .malformedData, false), (204, .malformedData, false),
        (302, .malformedData, false), (307, .malformedData, false),
        (400, .malformedData, false), (401, .authenticationFailed, false), (403, .authenticationFailed, false),
        (404, .notFound, false),
        (405, .notFound, false), (406, .unsupported, false), (413, .resourceExhausted, false),
        (415, .unsupported, false),
        (422, .unsupported, false), (429, .serverUnavailable, true), (500, .serverUnavailable, true),
        (503, .serverUnavailable, true),
    ]

    @Test("Refusals are errors by their status, and only temporary ones are tried again", arguments: refusals)
    func refused(_ status: Int, _ code: InletError.Code, _ isTriedAgain: Bool) {
        guard case .refused(let refusal) = WHIPReply(Self.response(status)) else {
            Issue.record("\(status) was not refused")
            return
        }
        #expect(refusal.code == code)
        #expect((refusal.retryAfter != nil) == isTriedAgain)
    }

    @Test(
        "The wait that a server requests is respected, up to an hour",
        arguments: [("7", 7), ("-1", 0), ("x", 0), ("99999999", 3600)])
    func waits(_ text: String, _ seconds: Int) {
        guard case .refused(let refusal) = WHIPReply(Self.response(503, [("retry-after", text)])) else { return }
        #expect(refusal.retryAfter == .seconds(seconds))
    }

    @Test("Redirections that keep the method are followed, a few times", arguments: [307, 308])
    func redirected(_ status: Int) {
        let response = Self.response(status, [("location", "https://b/whip")])
        #expect(WHIPReply(response) == .redirected(to: "https://b/whip"))
        guard case .refused = WHIPReply(response, redirections: WHIPReply.mostRedirections) else {
            Issue.record("followed for ever")
            return
        }
    }
}

#if GStreamer
import InletCore
import InletRTC
import Testing

@testable import KinesisPlugin

/// Decisions without input or output: messages, flows, queues, errors, configurations.
@Suite struct KinesisPartsTests {
    @Test("Messages are read and written as AWS documents them, and anything else is ignored")
    func messages() throws {
        let flow = SignalingFlow("flow-1")
        let offer = SignalingMessage.description(.init(kind: .offer, sdp: "v=0\r\n\"", flow: flow))
        let text = try #require(KinesisMessage.text(offer, to: "viewer"))
        #expect(text.contains("\"action\":\"SDP_OFFER\"") && text.contains("\"recipientClientId\":\"viewer\""))
        #expect(text.contains("\"correlationId\":\"flow-1\""))
        let read = try #require(KinesisMessage.read(text))
        #expect(read.message == .offer(sdp: "v=0\r\n\""))
        let candidate = SignalingMessage.candidate(.init(line: "candidate:1", section: 2, flow: flow))
        let sent = try #require(KinesisMessage.text(candidate, to: nil))
        #expect(!sent.contains("recipientClientId"))
        #expect(KinesisMessage.read(sent)?.message == .candidate(line: "candidate:1", section: 2))
        #expect(KinesisMessage.text(.bye(flow), to: nil) == nil)
        let status = """
            {"messageType":"STATUS_RESPONSE","senderClientId":"","messagePayload":"","statusResponse":
            {"correlationId":"a","errorType":"X","statusCode":"404","description":"gone"}}
            """
        #expect(KinesisMessage.read(status)?.message == .status(code: "404", kind: "X", description: "gone"))
        #expect(KinesisMessage.read("{\"messageType\":\"GO_AWAY\"}")?.message == .goAway)
        for text in [
            "", "{}", "[]", "{\"messageType\":\"SDP_OFFER\"}", "{\"messageType\":1}",
            "{\"messageType\":\"SDP_OFFER\",\"messagePayload\":\"%%%\"}",
            "{\"messageType\":\"SDP_OFFER\",\"messagePayload\":\"e30=\"}", "{\"messageType\":\"NEW\"}",
            "{\"messageType\":\"SDP_OFFER\",\"messagePayload\":\"\(String(repeating: "A", count: 200_000))\"}",
        ] {
            #expect(KinesisMessage.read(text) == nil, "\(text.prefix(60))")
        }
    }

    @Test("Candidates belong to the newest offer of either side, and those before any offer to the next one")
    func flows() throws {
        var flows = KinesisFlows()
        let (one, other) = (try PeerID("one"), try PeerID("other"))
        func flow(_ message: SignalingMessage?) -> SignalingFlow? {
            switch message {
            case .candidate(let candidate): candidate.flow
            case .description(let description): description.flow
            default: nil
            }
        }
        let early = flow(flows.received(.candidate(line: "c", section: 0), from: one))
        #expect(early != nil)
        #expect(flow(flows.received(.candidate(line: "d", section: 0), from: one)) == early)
        #expect(flow(flows.received(.candidate(line: "c", section: 0), from: other)) != early)
        #expect(flow(flows.received(.offer(sdp: "o"), from: one)) == early)
        #expect(flow(flows.received(.candidate(line: "e", section: 0), from: one)) == early)
        let second = flow(flows.received(.offer(sdp: "p"), from: one))
        #expect(second != early)
        #expect(flow(flows.received(.candidate(line: "f", section: 0), from: one)) == second)
        // An answer without an offer.
        #expect(flows.received(.answer(sdp: "a"), from: other) == nil)
        let own = SignalingFlow("own")
        flows.sent(.description(.init(kind: .offer, sdp: "x", flow: own)), to: other)
        #expect(flow(flows.received(.answer(sdp: "a"), from: other)) == own)
        #expect(flow(flows.received(.candidate(line: "g", section: 0), from: other)) == own)
        for number in 0..<2000 {
            _ = flows.received(.candidate(line: "c", section: 0), from: try PeerID("peer\(number)"))
        }
        #expect(flows.received(.answer(sdp: "a"), from: other) == nil)
    }

    @Test("Each peer has its turn, and a peer's oldest candidate is replaced, never its offer")
    func outbox() throws {
        let outbox = KinesisOutbox(most: 4)
        let (one, other) = (try PeerID("one"), try PeerID("other"))
        let flow = SignalingFlow("f")
        outbox.append(.description(.init(kind: .offer, sdp: "o", flow: flow)), to: one)
        for number in 0..<10 {
            outbox.append(.candidate(.init(line: "\(number)", section: 0, flow: flow)), to: one)
        }
        outbox.append(.bye(nil), to: other)
        var seen: [String] = []
        while let item = outbox.next() {
            switch item.message {
            case .description: seen.append("\(item.peer) offer")
            case .candidate(let candidate): seen.append("\(item.peer) \(candidate.line)")
            case .bye: seen.append("\(item.peer) bye")
            }
        }
        #expect(seen == ["one offer", "other bye", "one 7", "one 8", "one 9"])
    }

    @Test(
        "AWS's refusals have clear errors",
        arguments: [
            ("ExpiredTokenException", 403, InletError.Code.authenticationFailed, "have expired"),
            ("UnrecognizedClientException", 403, .authenticationFailed, "does not know the access key"),
            ("AccessDeniedException", 403, .authenticationFailed, "kinesisvideo:DescribeSignalingChannel"),
            ("InvalidSignatureException", 403, .authenticationFailed, "clock is 30 minutes off"),
            ("ThrottlingException", 400, .serverUnavailable, "too many requests"),
            ("ResourceNotFoundException", 404, .notFound, "no signaling channel 'porch'"),
            ("", 503, .serverUnavailable, "currently unavailable"), ("", 418, .unsupported, "418"),
        ])
    func failures(_ name: String, status: Int, code: InletError.Code, text: String) {
        let response = AWSResponse(
            status: status,
            headers: [
                .init("x-amzn-errortype", name + ":http://x/"), .init("date", "Thu, 01 Jan 1970 00:30:00 GMT"),
            ], body: "{\"message\":\"so it is\"}")
        let failure = KinesisFailure(
            response, operation: "DescribeSignalingChannel", channel: "porch", clock: 0)
        #expect(failure.error.code == code)
        #expect(failure.error.message.contains(text), "\(failure.error)")
        #expect(failure.mayPass == (code == .serverUnavailable))
    }

    @Test("A channel is a name or an ARN, and a region a word")
    func configurations() throws {
        func validate(_ channel: String, region: String? = nil, client: String? = nil) throws {
            var configuration = KinesisConfiguration(channel: channel)
            configuration.region = region
            if let client { configuration.role = .viewer(clientID: client) }
            try configuration.validate()
        }
        try validate("porch", region: "eu-central-1")
        let arn = "arn:aws:kinesisvideo:us-west-2:123456789012:channel/porch/1700000000000"
        try validate(arn, client: "phone_1.a")
        var configuration = KinesisConfiguration(channel: arn)
        #expect(try configuration.arn().region == "us-west-2")
        configuration.backOff = .zero
        #expect(throws: InletError.self) { try configuration.validate() }
        for channel in ["", "a b", "größe", "arn:aws:s3:::bucket", String(repeating: "a", count: 257)] {
            #expect(throws: InletError.self, "\(channel)") { try validate(channel) }
        }
        #expect(throws: InletError.self) { try validate("porch", region: "evil.example/") }
        #expect(throws: InletError.self) { try validate("porch", client: "a b") }
    }
}
#endif

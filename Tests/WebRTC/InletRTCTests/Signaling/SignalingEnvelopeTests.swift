import InletCore
import Testing

@testable import InletRTC

/// The JSON form of signaling messages.
@Suite struct SignalingEnvelopeTests {
    static let flow = SignalingFlow("a-1")
    static func read(_ json: String) throws -> SignalingEnvelope { try SignalingEnvelope(json: Array(json.utf8)) }

    @Test("Every message is read as it was written")
    func roundTrip() throws {
        let contents: [SignalingEnvelope.Content] = [
            .session(.description(SessionDescription(kind: .offer, sdp: "v=0\r\n\"\\\u{1}\u{e9}", flow: Self.flow))),
            .session(.description(SessionDescription(kind: .answer, sdp: "", flow: Self.flow))),
            .session(.candidate(ICECandidate(line: "candidate:1 1 UDP", section: 2, flow: Self.flow))),
            .session(.candidate(ICECandidate(line: "", section: 0, flow: Self.flow))),
            .session(.bye(Self.flow)), .session(.bye(nil)),
            .call(CallMessage(CallID(), .invite)), .call(CallMessage(CallID(), .ringing)),
            .call(CallMessage(CallID(), .accept)), .call(CallMessage(CallID(), .decline(reason: nil))),
            .call(CallMessage(CallID(), .decline(reason: "at \"table\""))),
            .call(CallMessage(CallID(), .busy(retryAfter: nil))),
            .call(CallMessage(CallID(), .busy(retryAfter: .seconds(30)))),
            .call(CallMessage(CallID(), .cancel)), .call(CallMessage(CallID(), .hangUp)),
        ]
        for content in contents {
            let bare = SignalingEnvelope(content)
            #expect(try Self.read(bare.json) == bare)
            let full = SignalingEnvelope(
                from: try PeerID("ann"), to: try PeerID("b\"en"), instance: SignalingInstance(), content)
            #expect(try Self.read(full.json) == full)
        }
        let busy = CallMessage(try CallID("c"), .busy(retryAfter: .milliseconds(1200)))
        #expect(
            SignalingEnvelope(from: try PeerID("a"), .call(busy)).json
                == #"{"type":"busy","call":"c","from":"a","retryAfter":2}"#)
    }

    @Test(
        "The format of the room in Samples is read: without names, in any order, with unknown keys",
        arguments: [
            #"{"type":"offer","flow":"a-1","sdp":"v=0"}"#, #"{"type":"candidate","flow":"a-1","line":"x"}"#,
            #"{"type":"bye"}"#, #"{"type":"bye","flow":null}"#,
            #" { "sdp":"v=0","color":[1],"flow":"a-1","type":"answer"}"#,
        ])
    func compatible(_ json: String) throws { _ = try Self.read(json) }

    @Test(
        "Missing, wrongly typed, out-of-range and unknown values are refused",
        arguments: [
            "", "null", "[]", "{}", #"{"type":1}"#, #"{"type":"offer"}"#, #"{"type":"offer","flow":"a-1"}"#,
            #"{"type":"offer","flow":"","sdp":"v=0"}"#, #"{"type":"offer","flow":"a","sdp":3}"#,
            #"{"type":"candidate","flow":"a","line":"x","section":-1}"#,
            #"{"type":"candidate","flow":"a","line":"x","section":1.5}"#,
            #"{"type":"candidate","flow":"a","line":"x","section":99999}"#,
            #"{"type":"hello","call":"c"}"#, #"{"type":"invite"}"#, #"{"type":"invite","call":""}"#,
            #"{"type":"invite","call":"a b"}"#, #"{"type":"busy","call":"c","retryAfter":"soon"}"#,
            #"{"type":"bye","from":"a b"}"#, #"{"type":"bye","from":""}"#, #"{"type":"bye","to":7}"#,
            #"{"type":"bye","instance":"\u00e9"}"#, #"{"type":"bye","type":"bye"}"#, #"{"type":"bye"} x"#,
        ])
    func refused(_ json: String) {
        let error = #expect(throws: InletError.self) { try Self.read(json) }
        #expect(error?.code == .malformedData)
    }

    @Test("Texts over their limits are refused, and so is a message that is too long")
    func tooLong() {
        let long = String(repeating: "x", count: SignalingEnvelope.longestDescription + 1)
        for json in [
            #"{"type":"offer","flow":"a","sdp":"\#(long)"}"#, #"{"type":"bye","flow":"\#(long.utf8.count)\#(long)"}"#,
            String(repeating: " ", count: SignalingEnvelope.longest + 1),
        ] {
            let error = #expect(throws: InletError.self) { try Self.read(json) }
            #expect(error?.code == .malformedData && error?.message.utf8.count ?? .max < 200)
        }
    }

    @Test("Reading any bytes gives a message or an error")
    func mutations() {
        let offer = SessionDescription(kind: .offer, sdp: "v=0\r\n", flow: Self.flow)
        let seeds = [
            SignalingEnvelope(.session(.description(offer))),
            SignalingEnvelope(.call(CallMessage(CallID(), .busy(retryAfter: .seconds(3))))),
        ].map { Array($0.json.utf8) }
        var (random, read) = (SplitMix64(seed: 7), 0)
        for round in 0..<20_000 {
            var bytes = seeds[round % seeds.count]
            for _ in 0..<(1 + Int(random.next() % 4)) {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            do throws(InletError) {
                let envelope = try SignalingEnvelope(json: bytes)
                read += 1
                #expect((try? SignalingEnvelope(json: Array(envelope.json.utf8))) == envelope)
            } catch { #expect(error.code == .malformedData) }
        }
        #expect(read > 100)
    }

    @Test("Names are visible ASCII within bounds")
    func names() {
        for name in ["", "a b", "\u{e9}", "a\u{7f}", String(repeating: "a", count: 257)] {
            #expect(throws: InletError.self) { try PeerID(name) }
        }
        #expect(throws: Never.self) { try PeerID(String(repeating: "~", count: 256)) }
        #expect(throws: InletError.self) { try CallID(String(repeating: "a", count: 65)) }
    }
}

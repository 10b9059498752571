import InletCore
import Testing

@testable import InletRTC

@Suite struct VideoOfferTests {
    /// A shortened offer of Chromium.
    static func offer(direction: String = "recvonly", session: String = "", kind: String = "video") -> String {
        """
        v=0\r
        o=- 46117317 2 IN IP4 127.0.0.1\r
        s=-\r
        t=0 0\r
        a=group:BUNDLE 0 1\r
        \(session)m=audio 9 UDP/TLS/RTP/SAVPF 111\r
        a=mid:0\r
        a=rtpmap:111 opus/48000/2\r
        m=\(kind) 9 UDP/TLS/RTP/SAVPF 96 102 104 106 108\r
        c=IN IP4 0.0.0.0\r
        a=ice-ufrag:Zr4X\r
        a=ice-pwd:secretsecretsecretsecret\r
        a=fingerprint:sha-256 AA:BB\r
        a=setup:actpass\r
        a=mid:1\r
        a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\r
        a=extmap:13/sendonly urn:3gpp:video-orientation\r
        a=extmap:99 urn:x\r
        a=\(direction)\r
        a=rtcp-mux\r
        a=rtpmap:96 VP8/90000\r
        a=rtpmap:102 H264/90000\r
        a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f\r
        a=rtpmap:104 H264/90000\r
        a=fmtp:104 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42e01f\r
        a=rtpmap:106 H264/90000\r
        a=fmtp:106 level-asymmetry-allowed=1; packetization-mode=1; profile-level-id=42e01f\r
        a=rtpmap:108 H264/90000\r
        a=fmtp:108 packetization-mode=1;profile-level-id=640032\r

        """
    }

    @Test("The video section is found, and constrained baseline in mode 1 is preferred")
    func reads() throws {
        let offer = try VideoOffer(Self.offer())
        #expect(offer.section == 1)
        #expect(offer.mid == "1")
        #expect(offer.userFragment == "Zr4X")
        #expect(offer.payload(for: .h264)?.type == 106)
        #expect(offer.payload(for: .vp8)?.type == 96)
        #expect(offer.payload(for: .av1) == nil)
        #expect(offer.extensions == [VideoOffer.transportWideSequence: 3, VideoOffer.videoOrientation: 13])
    }

    @Test(
        "Only a section that receives counts",
        arguments: [("sendonly", false), ("inactive", false), ("sendrecv", true), ("x-none", true)])
    func direction(_ direction: String, _ isTaken: Bool) {
        #expect(((try? VideoOffer(Self.offer(direction: direction))) != nil) == isTaken)
    }

    @Test(
        "To receive pictures, only a section that sends counts",
        arguments: [("sendonly", true), ("inactive", false), ("sendrecv", true), ("recvonly", false), ("x-none", true)])
    func senders(_ direction: String, _ isTaken: Bool) {
        #expect(((try? VideoOffer(Self.offer(direction: direction), in: .sends)) != nil) == isTaken)
    }

    @Test("Text that is not a WebRTC offer is refused")
    func refused() {
        let offer = Self.offer()
        let spoilt = [
            "", "v=0", "hello", "v=1\r\n" + offer, offer.replacing("a=ice-pwd", with: "a=x"),
            offer.replacing("a=fingerprint", with: "a=x"),
            offer.replacing("m=video 9", with: "m=video 99999999"), offer + "no line\r\n",
            // Texts that an engine would read differently.
            offer + "a=mid:\u{0}\r\n", offer + "a= candidate:1\r\n", offer + "\u{c}a=x\r\n", "\u{feff}" + offer,
            offer.replacing("v=0", with: "v=0\u{301}"),
        ]
        for text in spoilt {
            #expect(throws: PeerSessionFailure.malformedDescription) { try VideoOffer(text) }
        }
        #expect(throws: PeerSessionFailure.noCommonCodec) { try VideoOffer(Self.offer(kind: "image")) }
    }

    @Test("An offer with more entries than any peer needs is refused")
    func limits() throws {
        let offer = Self.offer()
        let candidate = "a=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n"
        for (text, count) in [("a=x\r\n", 970), ("m=audio 9 UDP/TLS/RTP/SAVPF 0\r\n", 14), (candidate, 128)] {
            _ = try VideoOffer(offer + String(repeating: text, count: count))
            #expect(throws: PeerSessionFailure.limit, "\(text)") {
                try VideoOffer(offer + String(repeating: text, count: count + 5))
            }
        }
        let types = (0...127).map { " \($0)" }.joined()
        _ = try VideoOffer(offer.replacing(" 96 102 104 106 108", with: types))
        #expect(throws: PeerSessionFailure.limit) {
            try VideoOffer(offer.replacing(" 96 102 104 106 108", with: types + " 96"))
        }
    }

    @Test("A payload type is read once, however often it appears, and the first of its lines counts")
    func repeated() throws {
        let again = "a=rtpmap:106 VP8/90000\r\na=fmtp:106 packetization-mode=0\r\n"
        let text = Self.offer().replacing(" 106 ", with: " 106 106 0106 300 -1 +96 106 ") + again
        let offer = try VideoOffer(text)
        #expect(offer.payloads.map(\.type) == [96, 102, 104, 106, 108])
        #expect(offer.payload(for: .h264)?.parameters["packetization-mode"] == "1")
    }

    @Test("Credentials of the session count if the section has none")
    func sessionLevel() throws {
        let text = Self.offer().replacing("a=ice-ufrag:Zr4X\r\n", with: "")
        #expect(throws: PeerSessionFailure.malformedDescription) { try VideoOffer(text) }
        let moved = text.replacing("a=group", with: "a=ice-ufrag:Up\r\na=group")
        #expect(try VideoOffer(moved).userFragment == "Up")
    }
}

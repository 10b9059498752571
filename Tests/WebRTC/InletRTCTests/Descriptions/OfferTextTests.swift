import Testing

@testable import InletRTC

@Suite struct OfferTextTests {
    static func lines(_ sdp: String) -> [String] { OfferText.prepared(sdp).split(separator: "\r\n").map(String.init) }

    @Test("H.264 has its profile and packetization mode once, whatever the engine wrote, and nothing else changes")
    func h264() {
        #expect(
            Self.lines("v=0\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=1; x=2\r\n") == [
                "v=0", "a=rtpmap:96 H264/90000",
                "a=fmtp:96 packetization-mode=1;x=2;profile-level-id=42e01f;level-asymmetry-allowed=1",
            ])
        #expect(
            Self.lines("v=0\na=rtpmap:97 rtx/90000\na=rtpmap:96 h264/90000\na=fmtp:97 apt=96") == [
                "v=0", "a=rtpmap:97 rtx/90000", "a=rtpmap:96 h264/90000",
                "a=fmtp:96 packetization-mode=1;profile-level-id=42e01f;level-asymmetry-allowed=1", "a=fmtp:97 apt=96",
            ])
        #expect(
            Self.lines("a=rtpmap:96 H264/90000\na=fmtp:96 Profile-Level-Id=640028;packetization-mode=0")[1]
                == "a=fmtp:96 Profile-Level-Id=640028;packetization-mode=0;level-asymmetry-allowed=1")
        #expect(Self.lines("a=rtpmap:96 VP8/90000") == ["a=rtpmap:96 VP8/90000"])
    }

    @Test("This side starts DTLS")
    func setup() { #expect(Self.lines("a=setup:actpass\na=setup:passive") == ["a=setup:active", "a=setup:passive"]) }
}

import InletCore
import Testing

@testable import InletRTC

@Suite struct SentFormatTests {
    private static let engine = """
        v=0\r
        m=video 9 UDP/TLS/RTP/SAVPF 98 96\r
        a=rtcp-fb:* ccm fir\r
        a=rtpmap:98 VP8/90000\r
        a=rtcp-fb:98 nack pli\r
        a=rtpmap:96 rtx/90000\r
        a=fmtp:96 apt=98\r
        a=sendonly\r
        m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r

        """

    @Test("An offer lists all formats in order, by the session's numbers, with the feedback of the sent one")
    func listing() {
        let text = SentFormat.listing(SentFormat.offered([.h264, .vp8]), in: Self.engine)
        #expect(
            text == """
                v=0\r
                m=video 9 UDP/TLS/RTP/SAVPF 96 97 98 99\r
                a=rtcp-fb:* ccm fir\r
                a=sendonly\r
                a=rtpmap:96 H264/90000\r
                a=fmtp:96 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f\r
                a=rtcp-fb:96 nack pli\r
                a=rtpmap:97 rtx/90000\r
                a=fmtp:97 apt=96\r
                a=rtpmap:98 VP8/90000\r
                a=rtcp-fb:98 nack pli\r
                a=rtpmap:99 rtx/90000\r
                a=fmtp:99 apt=98\r
                m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r

                """)
    }

    @Test("In a peer's answer the sent format remains, with its retransmissions, before other wanted ones")
    func alone() {
        let answer = SentFormat.listing(SentFormat.offered([.h264, .vp8]), in: Self.engine)
        let text = SentFormat.offered([.h264, .vp8])[1].first(in: answer)
        #expect(text.contains("m=video 9 UDP/TLS/RTP/SAVPF 98 99\r\n"))
        #expect(text.contains("a=fmtp:99 apt=98\r\n") && !text.contains("96") && !text.contains("97"))
        let other = SentFormat(.vp8, payload: 98, retransmission: 101).first(in: Self.engine)
        #expect(other.contains("m=video 9 UDP/TLS/RTP/SAVPF 98\r\n") && !other.contains("rtx"))
        let both = SentFormat.offered([.h264, .vp8])[1].first(
            in: answer, before: SentFormat.offered([.h264, .vp8, .vp9]))
        #expect(both.contains("m=video 9 UDP/TLS/RTP/SAVPF 98 99 96 97\r\n") && both.contains("a=fmtp:97 apt=96\r\n"))
    }

    @Test("Formats of a peer's offer have its numbers; a codec that it lacks gets unused numbers")
    func taken() throws {
        let offer = try VideoOffer(
            """
            v=0\r
            m=video 9 UDP/TLS/RTP/SAVPF 97 98 99\r
            a=ice-ufrag:a\r
            a=ice-pwd:b\r
            a=fingerprint:sha-256 00\r
            a=rtpmap:97 VP8/90000\r
            a=rtpmap:98 rtx/90000\r
            a=fmtp:98 apt=97\r
            a=rtpmap:99 H264/90000\r
            a=fmtp:99 packetization-mode=1;profile-level-id=42E01F\r

            """)
        #expect(
            SentFormat.taken([.h264, .vp8, .vp9], from: offer) == [
                SentFormat(
                    .h264, payload: 99, retransmission: nil,
                    parameters: "packetization-mode=1;profile-level-id=42E01F"),
                SentFormat(.vp8, payload: 97, retransmission: 98),
                SentFormat(.vp9, payload: 96, retransmission: 100),
            ])
    }

    @Test("If a peer's offer uses all dynamic numbers, missing codecs get unassigned ones, and then none")
    func fewNumbers() throws {
        func offer(_ types: [Int]) throws -> VideoOffer {
            let lines = types.map { "a=rtpmap:\($0) \($0 == 96 ? "VP8" : "other")/90000\r\n" }
            return try VideoOffer(
                "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF \(types.map { "\($0)" }.joined(separator: " "))\r\n"
                    + "a=ice-ufrag:a\r\na=ice-pwd:b\r\na=fingerprint:sha-256 00\r\n" + lines.joined())
        }
        func numbers(_ types: [Int]) throws -> [[Int?]] {
            try SentFormat.taken([.vp9, .vp8, .av1], from: offer(types)).map { [$0.payload, $0.retransmission] }
        }
        let dynamic = Array(96...127)
        #expect(try numbers(dynamic) == [[35, 36], [96, nil], [37, 38]])
        #expect(try numbers(Array(96...126)) == [[127, 35], [96, nil], [36, 37]])
        #expect(try numbers(dynamic + Array(35...60)) == [[61, 62], [96, nil], [63, nil]])
        #expect(try numbers(dynamic + Array(35...61)) == [[62, 63], [96, nil]])
    }
}

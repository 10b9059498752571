import InletCore
import Testing

@testable import InletRTC

@Suite struct VideoSectionTextTests {
    @Test("The video has the track's names instead of the engine's; other sections do not change")
    func names() {
        let sdp = [
            "v=0", "m=video 9 UDP/TLS/RTP/SAVPF 96", "a=msid:web 1", "a=ssrc:7 msid:user@host 1", "a=ssrc:7 cname:x",
            "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=mid:1", "",
        ].joined(separator: "\r\n")
        let named = VideoSectionText.named(TrackName(stream: "studio", track: "camera"), in: sdp)
        #expect(
            named.split(separator: "\r\n") == [
                "v=0", "m=video 9 UDP/TLS/RTP/SAVPF 96", "a=ssrc:7 msid:studio camera", "a=ssrc:7 cname:x",
                "a=msid:studio camera", "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=mid:1",
            ])
    }

    @Test("A direction and a bit rate are stated only in the video, and the peer's are read")
    func directions() {
        let sdp = "m=video 9 X 96\r\nc=IN IP4 0.0.0.0\r\na=sendonly\r\nm=application 9 Y\r\na=sendrecv\r\n"
        #expect(
            VideoSectionText.stated(.init(sends: false, receives: false), bitrate: 500_000, in: sdp)
                == "m=video 9 X 96\r\nc=IN IP4 0.0.0.0\r\nb=TIAS:500000\r\na=inactive\r\nm=application 9 Y\r\na=sendrecv\r\n"
        )
        #expect(VideoSectionText.stated(.init(sends: true, receives: false), bitrate: nil, in: sdp) == sdp)
        let taken = VideoSectionText.taken("m=video 9 X 96\r\na=inactive\r\n", isTwoWay: false)
        #expect(taken.sdp == "m=video 9 X 96\r\na=recvonly\r\n")
        #expect(!taken.direction.receives)
        #expect(VideoSectionText.taken(taken.sdp, isTwoWay: false).direction.receives)
    }

    @Test(
        "An engine for both directions states sendrecv in its offers; answers state what the offer allows",
        arguments: [
            ("sendrecv", "sendrecv", "sendonly", "recvonly"), ("sendonly", "recvonly", "inactive", "recvonly"),
            ("recvonly", "sendonly", "sendonly", "inactive"), ("inactive", "inactive", "inactive", "inactive"),
        ])
    func bothDirections(_ offer: String, _ both: String, _ sends: String, _ receives: String) {
        let sdp = "m=video 9 X 96\r\na=\(offer)\r\nm=video 9 X 97\r\na=recvonly\r\n"
        let taken = VideoSectionText.taken(sdp, isTwoWay: true)
        #expect(taken.sdp == "m=video 9 X 96\r\na=sendrecv\r\nm=video 9 X 97\r\na=recvonly\r\n")
        for (wanted, stated) in [((true, true), both), ((true, false), sends), ((false, true), receives)] {
            let direction = VideoSectionText.Direction(sends: wanted.0, receives: wanted.1)
            #expect(
                VideoSectionText.stated(
                    direction.answering(taken.direction), bitrate: nil,
                    in: "m=video 9 X 96\r\na=sendrecv\r\nm=video 0 X 97\r\na=inactive\r\n")
                    == "m=video 9 X 96\r\na=\(stated)\r\nm=video 0 X 97\r\na=inactive\r\n")
        }
    }

    @Test("SSRCs are read from the first video only, each once; invalid numbers are left out")
    func sources() {
        let sdp = [
            "m=audio 9 X 111", "a=ssrc:1 cname:x", "m=video 9 X 96 97", "a=ssrc-group:FID 7 8", "a=ssrc:7 cname:x",
            "a=ssrc:7 msid:a b", "a=ssrc:8 cname:x", "a=ssrc:4294967296 cname:x", "a=ssrc:-1 cname:x", "m=video 9 X 99",
            "a=ssrc:9 cname:x", "",
        ].joined(separator: "\r\n")
        #expect(VideoSectionText.sources(in: sdp) == [7, 8])
        #expect(VideoSectionText.sources(in: "v=0\r\n").isEmpty)
    }

    @Test("A further offer with other format numbers is read with the sent number, and no other format")
    func renumbered() {
        let sdp = [
            "v=0", "m=video 9 UDP/TLS/RTP/SAVPF 97 98 99", "a=rtpmap:97 VP8/90000", "a=rtpmap:98 rtx/90000",
            "a=fmtp:98 apt=97", "a=rtpmap:99 H264/90000", "a=rtcp-fb:99 nack", "a=rtcp-fb:* nack pli",
            "a=fmtp:99 packetization-mode=1", "a=mid:0", "m=audio 9 UDP/TLS/RTP/SAVPF 97", "a=rtpmap:97 opus/48000/2",
        ].joined(separator: "\r\n")
        #expect(
            VideoSectionText.renumbered(99, as: 96, in: sdp).split(separator: "\r\n") == [
                "v=0", "m=video 9 UDP/TLS/RTP/SAVPF 96", "a=rtpmap:96 H264/90000", "a=rtcp-fb:96 nack",
                "a=rtcp-fb:* nack pli", "a=fmtp:96 packetization-mode=1", "a=mid:0",
                "m=audio 9 UDP/TLS/RTP/SAVPF 97", "a=rtpmap:97 opus/48000/2",
            ])
    }

    @Test("A name that a description cannot contain is an error", arguments: ["", "two words", "a\r\nb", "\u{e9}"])
    func invalid(_ name: String) {
        #expect(throws: InletError.self) { try TrackName(stream: name).validate() }
        #expect(throws: InletError.self) { try TrackName(track: name).validate() }
    }
}

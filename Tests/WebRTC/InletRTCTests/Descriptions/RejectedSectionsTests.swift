import Testing

@testable import InletRTC

@Suite struct RejectedSectionsTests {
    private static func text(_ lines: String...) -> String { lines.map { $0 + "\r\n" }.joined() }

    private static let offer = text(
        "v=0", "a=group:BUNDLE video0 application1", "m=video 9 UDP/TLS/RTP/SAVPF 96", "a=mid:video0",
        "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=mid:application1")

    @Test("A rejected section gets the lines that the engine requires, and keeps its own")
    func completed() {
        let transport = Self.text(
            "a=ice-ufrag:abcd", "a=ice-pwd:0123456789012345678901", "a=fingerprint:sha-256 00:11", "a=setup:passive")
        let accepted = Self.text("v=0", "m=video 9 UDP/TLS/RTP/SAVPF 96", "a=mid:video0") + transport
        let bare = accepted + Self.text("m=application 0 UDP/DTLS/SCTP webrtc-datachannel", "c=IN IP4 0.0.0.0")
        let completed = bare + Self.text("a=mid:application1") + transport
        #expect(RejectedSections.completed(bare, for: Self.offer) == completed)
        #expect(RejectedSections.completed(completed, for: Self.offer) == completed)
        // An answer without data channels also rejects them.
        #expect(RejectedSections.completed(accepted, for: Self.offer) == completed)
        // The same attribute at session level applies to all sections.
        let session = Self.text("v=0", "a=setup:active", "m=video 0 X 1", "a=mid:v")
        let all = session + Self.text("a=setup:active") + Self.data
        #expect(RejectedSections.completed(session, for: Self.offer) == all)
    }

    private static let data = text(
        "m=application 0 UDP/DTLS/SCTP webrtc-datachannel", "c=IN IP4 0.0.0.0", "a=mid:application1", "a=setup:active")

    @Test("An answer that accepts everything, or cannot be read, stays unchanged")
    func unchanged() {
        for answer in [
            Self.offer, "", Self.text("v=0", "m="), Self.text("v=0", "m=video"), Self.text("m=video x"),
            Self.offer + Self.text("m=audio 9 UDP/TLS/RTP/SAVPF 96"),
        ] {
            let video = Self.text("v=0", "m=video 9 UDP/TLS/RTP/SAVPF 96", "a=mid:video0")
            #expect(RejectedSections.completed(answer, for: video) == answer)
        }
        #expect(RejectedSections.completed(Self.text("m=audio 0"), for: "").hasPrefix("m=audio 0\r\n"))
    }
}

/// An offer of a viewer that does not exist.
///
/// The first session of a process loads GStreamer's plug-ins and creates a certificate, which takes a few hundred
/// milliseconds. A session for this offer does that before a viewer has to wait.
enum ThrowawayOffer {
    static let sdp = """
        v=0\r
        o=- 1 2 IN IP4 127.0.0.1\r
        s=-\r
        t=0 0\r
        a=group:BUNDLE 0\r
        m=video 9 UDP/TLS/RTP/SAVPF 96\r
        c=IN IP4 0.0.0.0\r
        a=ice-ufrag:none\r
        a=ice-pwd:nobodynobodynobodynobody\r
        a=fingerprint:sha-256 \(repeatElement("00", count: 32).joined(separator: ":"))\r
        a=setup:actpass\r
        a=mid:0\r
        a=recvonly\r
        a=rtcp-mux\r
        a=rtpmap:96 H264/90000\r
        a=rtcp-fb:96 nack\r
        a=rtcp-fb:96 nack pli\r
        a=fmtp:96 packetization-mode=1;profile-level-id=42e01f\r

        """
}

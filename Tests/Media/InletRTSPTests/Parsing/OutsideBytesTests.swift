import InletCore
import InletRTSP
import Testing

/// Harmful bytes in everything that reads a server's text.
@Suite struct OutsideBytesTests {
    /// Reads the bytes as every type that they could be.
    private static func readAll(_ bytes: [UInt8]) {
        let sdp = SDP(bytes)
        #expect(sdp.media.count <= 64)
        for choice in [SDP.VideoChoice.first, .at(0), .at(70)] { _ = sdp.video(choice) }
        _ = SessionHeader(bytes)
        _ = RangeHeader(bytes)
        #expect(RTPInfo.all(in: bytes).count <= 64)
        _ = PublicHeader.methods(in: [bytes])
        for delivery in [TransportHeader.Delivery.tcp, .unicast, .multicast] {
            _ = TransportHeader(reply: bytes, requested: TransportHeader(delivery: delivery))
        }
        if let url = try? RTSPURL(bytes) {
            #expect(!url.requestURI.contains { $0 <= 0x20 || $0 == 0x7F })
            for candidate in url.candidates(forControl: bytes) + [url.base(contentBase: bytes, contentLocation: bytes)]
            {
                #expect(candidate.host == url.host)
                #expect(!candidate.requestURI.contains { $0 <= 0x20 || $0 == 0x7F })
            }
        }
        var authentication = RTSPAuthentication(credentials: RTSPCredentials(user: [0x75], password: [0x70]))
        _ = authentication.take(challenges: [bytes], sent: nil, wasAnsweringChallenge: false)
        _ = authentication.authorization(method: .play, uri: bytes)
        for text in [bytes, Array("RTSP/1.0 200 OK\r\n".utf8) + bytes + [13, 10, 13, 10]] {
            let whole = ParserRun(text)
            #expect(ParserRun(text, sizes: [1]).items == whole.items)
        }
    }

    @Test func seedsOfAnotherFuzzerDoNoHarm() throws {
        for text in GortsplibSeeds.base64 { Self.readAll(try #require(Self.decoded(text))) }
    }

    private static let starts: [[UInt8]] =
        (SDPCamera.gortsplib1 + SDPCamera.gortsplib2 + SDPCamera.gortsplib3).map { Array($0.text.utf8) }
        + [
            "RTP/AVP/TCP;unicast;interleaved=0-1;ssrc=0A0B0C0D;mode=\"PLAY\"", "A3eq;timeout=47",
            "url=rtsp://127.0.0.1/test.mkv/track1;seq=35243;rtptime=717574556,url=x;seq=1",
            "clock=19961108T142300.25Z-",
            "rtsp://user:p%23@[::ffff:1.2.3.4]:554/a/../b?c=d", "Digest realm=\"a\", nonce=\"b\\\"\", qop=\"auth\"",
            "npt=12:05:35.3-125",
        ].map { Array($0.utf8) }

    @Test("Changed text does no harm", arguments: 0..<3000)
    func mutation(_ seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var bytes = Self.starts[seed % Self.starts.count]
        for _ in 0..<Int.random(in: 1...8, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
            case 1: bytes.remove(at: index)
            case 2: bytes[index] = Array("=;,:/ \"\\-@?9".utf8).randomElement(using: &random) ?? 0
            case 3: bytes.insert(contentsOf: [UInt8](repeating: bytes[index], count: 30), at: index)
            default: bytes.removeSubrange(index..<min(index + 10, bytes.count))
            }
        }
        Self.readAll(bytes)
    }

    /// A session with a server of random answers ends, or continues, but never stalls without a deadline and never
    /// sends without limit.
    @Test("Random answers neither stall nor crash a session", arguments: 0..<2000)
    func session(_ seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        var server = try ScriptedServer("rtsp://u:p@cam/live") { $0.transports = [.udp, .multicast, .tcp] }
        let statuses = [200, 200, 200, 200, 301, 400, 401, 404, 454, 455, 457, 461, 501, 503, 551]
        for _ in 0..<60 where !server.session.isClosed {
            switch Int.random(in: 0..<14, using: &random) {
            case 0: server.handle(.connected)
            case 1: server.handle(.portsOpened(.init(5000, 5001)))
            case 2: server.waitForDeadline()
            case 3: server.handle(.transportSilent)
            case 4: server.handle(Bool.random(using: &random) ? .pause : .resume)
            case 5 where Int.random(in: 0..<8, using: &random) == 0: server.handle(.close)
            case 6 where Int.random(in: 0..<8, using: &random) == 0: server.handle(.disconnected)
            default:
                server.reply(
                    statuses.randomElement(using: &random) ?? 200,
                    [
                        ("Session", "s;timeout=\(Int.random(in: 0...90, using: &random))"),
                        ("Transport", "RTP/AVP;multicast;destination=239.0.0.1;port=4000"),
                        ("WWW-Authenticate", "Digest realm=\"r\", nonce=\"\(Int.random(in: 0...9, using: &random))\""),
                        ("Location", "rtsp://cam/other"), ("Public", "GET_PARAMETER"),
                    ], body: ScriptedServer.sdp)
            }
        }
        // Whatever happened, the session ends within the time of two answers once it is told to.
        server.handle(.close)
        if !server.session.isClosed { server.waitForDeadline() }
        #expect(server.session.isClosed)
        let log = server.takeLog()
        #expect(log.last == "close")
        #expect(log.count { $0.hasBytePrefix("fail") } <= 1)
        #expect(server.requests.count < 130)
    }

    private static func decoded(_ text: String) -> [UInt8]? {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var bytes: [UInt8] = []
        var bits = 0
        var count = 0
        for byte in text.utf8 where byte != UInt8(ascii: "=") {
            guard let value = alphabet.firstIndex(of: byte) else { return nil }
            bits = (bits << 6 | value) & 0xFFFF
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        return bytes
    }
}

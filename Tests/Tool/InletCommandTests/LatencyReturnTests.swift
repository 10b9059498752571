import Testing

@testable import InletCommand

struct LatencyReturnTests {
    @Test(
        "Video sent with webrtc: returns through WHEP, with its token; everything else through its own address",
        arguments: [
            ("webrtc:", "whep+http://127.0.0.1:8091/whep"),
            ("webrtc:9000", "whep+http://127.0.0.1:9000/whep"),
            ("webrtc:0.0.0.0:9000?token=a&fps=5", "whep+http://127.0.0.1:9000/whep?token=a"),
            ("webrtc:192.0.2.1?token-env=T&viewers=3", "whep+http://192.0.2.1:8091/whep?token-env=T"),
            ("webrtc:[::]:9000?token-file=/run/t", "whep+http://[::1]:9000/whep?token-file=/run/t"),
            ("udp://127.0.0.1:5004", "udp://127.0.0.1:5004"),
        ])
    func addresses(sink: String, source: String) throws {
        #expect(try LatencyReturn.address(of: sink) == source)
    }
}

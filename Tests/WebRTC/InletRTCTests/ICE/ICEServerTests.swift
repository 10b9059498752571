import InletCore
import Testing

@testable import InletRTC

@Suite struct ICEServerTests {
    @Test(
        "Addresses are read and written as by browsers and GStreamer",
        arguments: [
            ("stun:stun.example.org", "stun:stun.example.org:3478", "stun://stun.example.org:3478"),
            ("stun:[::1]:19302", "stun:[::1]:19302", "stun://[::1]:19302"),
            ("stun:[fe80::2]", "stun:[fe80::2]:3478", "stun://[fe80::2]:3478"),
            ("turn:10.0.0.1:99", "turn:10.0.0.1:99", "turn://1%3Aann:p%40s%2Fs%25@10.0.0.1:99"),
            ("turn:h?transport=tcp", "turn:h:3478?transport=tcp", "turn://1%3Aann:p%40s%2Fs%25@h:3478?transport=tcp"),
            ("turns:h", "turns:h:5349", "turns://1%3Aann:p%40s%2Fs%25@h:5349"),
        ])
    func reads(_ text: String, _ uri: String, _ engine: String) throws {
        let server = try ICEServer(text, user: "1:ann", password: "p@s/s%")
        #expect(server.uri == uri)
        #expect(server.engineURI == engine)
    }

    @Test(
        "Invalid addresses are refused",
        arguments: [
            "", "stun", "http://h", "stun:", "stun::99", "stun:h:0", "stun:h:70000", "stun:h:x", "stun:::1",
            "stun:[::1", "stun:[]:1", "stun:[::1]99",
            "stun:h?transport=udp", "turn:h?transport=sctp", "turn:u:secret@h", "stun:a b", "stun:a/b",
        ])
    func refuses(_ text: String) {
        #expect { try ICEServer(text, user: "u", password: "p") } throws: { error in
            (error as? InletError)?.code == .invalidConfiguration && !"\(error)".contains("secret")
        }
    }

    @Test("A relay requires credentials")
    func relay() { #expect(throws: InletError.self) { try ICEServer("turn:h") } }
}

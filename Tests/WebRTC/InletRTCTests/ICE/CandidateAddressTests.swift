import InletRTC
import Testing

@Suite struct CandidateAddressTests {
    private static func line(_ address: String) -> String { "candidate:1 1 udp 2113937151 \(address) 46155 typ host" }

    @Test(
        "Addresses are distinguished from names",
        arguments: [
            ("127.0.0.1", true), ("2001:db8::7", true), ("::ffff:10.0.0.1", true), ("FE80::1", true),
            ("4d36fbd9-3b37-4a2c-9a1c-7d9f4c0e8a11.local", false), ("dead.beef", false), ("example.org", false),
            ("a:b.local", false), ("fe80::1%eth0", false),
        ])
    func isNumeric(_ address: String, _ expected: Bool) {
        #expect(CandidateAddress.isNumeric(Self.line(address)) == expected)
    }

    @Test(
        "A line in which another reader may find another address is rejected",
        arguments: [
            "candidate:1 1 udp 1", "candidate:1 1 udp  evil.example 127.0.0.1 9 typ host",
            "candidate:1 1 udp 1 127.0.0.1 9  typ host", "candidate:1 1 udp 1 127.0.0.1 9 type host",
            " candidate:1 1 udp 1 127.0.0.1 9 typ host", "candidate:1\t1 udp 1 127.0.0.1 9 typ host",
            "candidate:\u{301}1 1 udp 1 127.0.0.1 9 typ host", "candidate: 1 1 udp 1 127.0.0.1 9 typ host",
            "candidate:1 1 udp 1 127.0.0.1 99999 typ host", "candidate:1 1 sctp 1 127.0.0.1 9 typ host",
            "candidate:1 1 udp 1 127.0.0.\u{661} 9 typ host", "candidate:1 1 udp 1 127.0.0.1\u{301} 9 typ host",
            "candidate:1 1 udp 1 127.0.0.1.2 9 typ host", "candidate:1 1 udp 1 2130706433 9 typ host",
        ])
    func misread(_ line: String) { #expect(!CandidateAddress.isNumeric(line)) }

    @Test("A description loses the candidates that name a host, and nothing else")
    func withoutNames() throws {
        let kept = "v=0\r\na=candidate:1 1 udp 9 10.0.0.1 9 typ host\r\na=mid:x.local\r\n"
        let sdp = kept.replacing("a=mid", with: "a=\(Self.line("x.local"))\r\na=mid")
        #expect(try CandidateAddress.withoutNames(sdp) == kept)
        #expect(try CandidateAddress.withoutNames(kept) == kept)
        #expect(try CandidateAddress.withoutNames(kept.replacing("\r\n", with: "\n\r\n")) == kept)
    }

    @Test(
        "A Unicode combining mark, blank or line separator does not let a name pass",
        arguments: ["candidate:\u{301}", "candidate\u{301}:", " candidate:", "\u{301}candidate:", "candidate :"])
    func hidden(_ start: String) throws {
        let line = "a=" + Self.line("x.local").replacing("candidate:", with: start)
        for end in ["\r\n", "\n", "\r", "\u{2028}a=x\r\n"] {
            let written = try? CandidateAddress.withoutNames("v=0\r\n\(line)\(end)a=mid:0\r\n")
            // Either the description is refused, or the line is gone.
            #expect(written == nil || written == "v=0\r\na=mid:0\r\n", "\(line)")
        }
    }
}

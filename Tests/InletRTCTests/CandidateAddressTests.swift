import InletRTC
import Testing

@Suite struct CandidateAddressTests {
    private static func line(_ address: String) -> String { "candidate:1 1 udp 2113937151 \(address) 46155 typ host" }

    @Test(
        "Addresses are told from names",
        arguments: [
            ("127.0.0.1", true), ("2001:db8::7", true), ("::ffff:10.0.0.1", true), ("FE80::1", true),
            ("4d36fbd9-3b37-4a2c-9a1c-7d9f4c0e8a11.local", false), ("dead.beef", false), ("example.org", false),
            ("a:b.local", false), ("fe80::1%eth0", false),
        ])
    func isNumeric(_ address: String, _ expected: Bool) {
        #expect(CandidateAddress.isNumeric(Self.line(address)) == expected)
    }

    @Test("A line that is too short has no address")
    func short() { #expect(!CandidateAddress.isNumeric("candidate:1 1 udp 1")) }

    @Test("A description loses the candidates that name a host, and nothing else")
    func withoutNames() {
        let kept = "v=0\r\na=candidate:1 1 udp 9 10.0.0.1 9 typ host\r\na=mid:x.local\r\n"
        let sdp = kept.replacing("a=mid", with: "a=\(Self.line("x.local"))\r\na=mid")
        #expect(CandidateAddress.withoutNames(sdp) == kept)
        #expect(CandidateAddress.withoutNames(kept) == kept)
    }
}

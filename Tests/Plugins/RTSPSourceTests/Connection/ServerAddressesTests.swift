import InletFFmpeg
import InletNetwork
import InletRTSP
import Testing

@testable import RTSPSource

@Suite struct ServerAddressesTests {
    private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(literal: text)) }
    private func url(_ text: String) throws -> RTSPURL { try RTSPURL(Array(text.utf8)) }

    @Test(
        "If a host's first address does not answer, its second is tried, wherever that is",
        arguments: [AddressPolicy.follow, .deny, .allow],
        [("203.0.113.1", "10.0.0.1"), ("192.168.1.2", "10.0.0.1"), ("::1", "127.0.0.1"), ("10.0.0.1", "8.8.8.8")])
    func second(_ policy: AddressPolicy, _ pair: (String, String)) throws {
        var addresses = ServerAddresses(policy)
        let (first, second) = (try address(pair.0), try address(pair.1))
        try addresses.lead(to: url("rtsp://cam/live"), from: nil)
        #expect(addresses.allows(first) && addresses.allows(second))
        addresses.noteSilence(of: first)
        try addresses.lead(to: url("rtsp://cam/live"), from: first)
        #expect(!addresses.allows(first) && addresses.allows(second))
        // Another session at the same address, as after a fall-back to TCP.
        try addresses.lead(to: url("rtsp://cam/live"), from: second)
        #expect(addresses.allows(second))
    }

    @Test("A redirection leads to no more private address, by any name, nor does one after it")
    func redirection() throws {
        for target in ["rtsp://other/live", "rtsp://cam:22/live", "rtsp://cam/other"] {
            var addresses = ServerAddresses(.follow)
            try addresses.lead(to: url("rtsp://cam/live"), from: nil)
            try addresses.lead(to: url(target), from: address("8.8.8.8"))
            try #expect(!addresses.allows(address("127.0.0.1")) && !addresses.allows(address("10.0.0.1")))
            try #expect(addresses.allows(address("1.1.1.1")))
            addresses.noteSilence(of: try address("1.1.1.1"))
            try addresses.lead(to: url(target), from: address("1.1.1.1"))
            try #expect(!addresses.allows(address("1.1.1.1")) && addresses.allows(address("9.9.9.9")))
            try #expect(!addresses.allows(address("10.0.0.1")))
            // A private server in between makes nothing more private.
            try addresses.lead(to: url("rtsp://third/live"), from: address("10.0.0.1"))
            try #expect(!addresses.allows(address("10.0.0.1")))
        }
    }

    @Test("Both addresses of a redirection's host are judged by the address that redirected")
    func secondOfAnother() throws {
        var addresses = ServerAddresses(.follow)
        try addresses.lead(to: url("rtsp://cam/live"), from: nil)
        try addresses.lead(to: url("rtsp://other/live"), from: address("10.0.0.1"))
        try #expect(addresses.allows(address("8.8.8.8")) && addresses.allows(address("10.0.0.2")))
        addresses.noteSilence(of: try address("8.8.8.8"))
        try addresses.lead(to: url("rtsp://other/live"), from: address("8.8.8.8"))
        try #expect(addresses.allows(address("10.0.0.2")) && !addresses.allows(address("127.0.0.1")))
    }

    @Test("Packets may come from addresses to which a redirection might lead")
    func senders() throws {
        let (remote, more) = (try address("192.168.1.2"), try address("127.0.0.1"))
        let addresses = ServerAddresses(.follow)
        try #expect(addresses.allows(sender: address("192.168.1.3"), of: remote))
        #expect(!addresses.allows(sender: more, of: remote))
        try #expect(!addresses.allows(sender: address("239.1.1.1"), of: remote))
    }
}

import InletHTTPServer
import NIOCore
import Testing

@Suite struct ClientAddressTests {
    @Test(
        "A client is an IPv4 address, or an IPv6 network",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("255.255.255.255", "255.255.255.255"), ("::ffff:192.0.2.1", "192.0.2.1"),
            ("2001:db8:0:12ab:1:2:3:4", "2001:db8:0:12ab::/64"), ("::1", "0:0:0:0::/64"),
        ])
    func description(_ address: String, _ client: String) throws {
        #expect("\(ClientAddress(try SocketAddress(ipAddress: address, port: 9)))" == client)
    }

    @Test("A client that changes its address within a network stays the same client")
    func network() throws {
        func client(_ address: String) throws -> ClientAddress {
            ClientAddress(try SocketAddress(ipAddress: address, port: 1))
        }
        #expect(try client("2001:db8::1") == client("2001:db8::ffff:1"))
        #expect(try client("2001:db8::1") != client("2001:db8:0:1::1"))
        #expect(try client("192.0.2.1") != client("192.0.2.2"))
        #expect(ClientAddress(nil) == .unknown)
    }
}

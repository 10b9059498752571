import InletCore
import Testing

@testable import InletWebSocket

@Suite struct WebSocketAddressTests {
    @Test(
        "An address is split into its parts",
        arguments: [
            ("ws://host", false, "host", 80, "/", "host"),
            ("WSS://host:8443/a?b=c", true, "host", 8443, "/a?b=c", "host:8443"),
            ("wss://[::1]:443/", true, "::1", 443, "/", "[::1]"),
            ("ws://host?x=/y", false, "host", 80, "/?x=/y", "host"),
            ("ws://host:/x", false, "host", 80, "/x", "host"),
        ])
    func parts(_ text: String, isSecure: Bool, host: String, port: Int, target: String, authority: String) throws {
        let address = try WebSocketAddress(text)
        #expect(address.isSecure == isSecure)
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.target == target)
        #expect(address.authority == authority)
    }

    @Test(
        "An invalid WebSocket address is refused, and its query is not quoted",
        arguments: [
            "http://host/?secret", "ws://", "ws://host:0/?secret", "ws://host:65536", "ws://host:x", "ws://::1/",
            "ws://[::1", "ws://[::1]x/", "ws://user:secret@host/", "ws://host/#secret", "ws://host/a b",
            "ws://host/\r\nHost: x", "ws://hóst/",
        ])
    func refused(_ text: String) {
        #expect(throws: InletError.self) { try WebSocketAddress(text + String(repeating: "a", count: 9000)) }
        let error = #expect(throws: InletError.self) { try WebSocketAddress(text) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("secret") == false)
    }
}

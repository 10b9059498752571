import InletCore
import InletFFmpeg
import InletNetwork
import Synchronization
import Testing

@testable import FFmpegSource

@Suite struct NetworkRedirectTests {
    private let protocols: Set<String> = ["rtsp", "rtsps"]

    @Test(
        "Credentials are sent to the same protocol, host and port, and nowhere else",
        arguments: [
            ("rtsp://a/x", "rtsp://a/y", true), ("rtsp://a/x", "rtsp://A:554/y", true),
            ("rtsp://a:554/x", "RTSP://a/y", true),
            ("rtsp://[::1]:8554/", "rtsp://[::1]:8554/z", true), ("rtsp://a:/x", "rtsp://a/y", true),
            ("rtsp://a/x", "rtsp://a:8554/y", false), ("rtsp://a/x", "rtsp://b/y", false),
            ("rtsp://a/x", "rtsps://a/y", false), ("rtsp://a/x", "rtsp://a.b/y", false),
            ("rtsp://a/x", "rtsp://a\u{301}/y", false), ("rtsp://a/x", "rtsp://b@a:555/y", false),
        ])
    func credentials(_ from: String, _ to: String, _ keeps: Bool) throws {
        let found = try NetworkRedirect.follow(from: NetworkAddress(from), to: to, protocols: protocols)
        #expect(found.keepsCredentials == keeps)
        #expect(found.address.user == nil && found.address.password == nil)
    }

    @Test("A server's own credentials in the address are left out")
    func strangers() throws {
        let found = try NetworkRedirect.follow(
            from: NetworkAddress("rtsp://me:pw@a/x"), to: "rtsp://you:their@a/y?z=1", protocols: protocols)
        #expect(found.address.withoutCredentials == "rtsp://a/y?z=1" && found.keepsCredentials)
    }

    @Test("All permitted addresses of a redirection's host are tried, IPv4 first")
    func addresses() throws {
        func addresses(_ literals: String...) -> [IPAddress] { literals.compactMap { IPAddress(literal: $0) } }
        let found = addresses("2606:4700::1", "127.0.0.1", "9.9.9.3", "10.9.9.1", "9.9.9.2")
        let leader = addresses("9.9.9.1").first
        #expect(
            RedirectPlaces.allowed(of: found, from: leader, by: .follow)
                == addresses("9.9.9.3", "9.9.9.2", "2606:4700::1"))
        #expect(RedirectPlaces.allowed(of: found, from: nil, by: .follow).isEmpty)
        #expect(RedirectPlaces.allowed(of: addresses("127.0.0.1"), from: leader, by: .follow).isEmpty)
    }

    @Test("The addresses of a host are looked up once, and used in order")
    func queue() throws {
        let asked = Atomic(0)
        let queue = PlaceQueue {
            asked.add(1, ordering: .relaxed)
            return ["rtsp://a", "rtsp://b"]
        }
        #expect(queue.isEmpty && asked.load(ordering: .relaxed) == 0)
        #expect(try queue.next() == ("rtsp://a", 2) && !queue.isEmpty)
        #expect(try queue.next() == ("rtsp://b", 1) && queue.isEmpty)
        #expect(throws: InletError.self) { try queue.next() }
        #expect(asked.load(ordering: .relaxed) == 1)
    }

    @Test(
        "An address that is not such a stream, or leaves TLS, is refused",
        arguments: [
            ("rtsps://a/x", "rtsp://a/x", .tlsFailed), ("rtsps://a/x", "http://a/x", .tlsFailed),
            ("rtsp://a/x", "file:///etc/passwd", .malformedData), ("rtsp://a/x", "http://a/x", .malformedData),
            ("rtsp://a/x", "/y", .malformedData), ("rtsp://a/x", "", .malformedData),
            ("rtsp://a/x", "rtsp://", .malformedData),
            ("rtsp://a/x", "rtsp://a:0/", .malformedData), ("rtsp://a/x", "rtsp://a:65536/", .malformedData),
            ("rtsp://a/x", "rtsp://a:1b/", .malformedData), ("rtsp://a/x", "rtsp://a\r\nX: y/", .malformedData),
            ("rtsp://a/x", "rtsp://[::1/", .malformedData), ("rtsp://a/x", "rtsp\u{301}://a/", .malformedData),
        ] as [(String, String, InletError.Code)])
    func refused(_ from: String, _ to: String, _ code: InletError.Code) throws {
        let error = #expect(throws: InletError.self) {
            try NetworkRedirect.follow(from: NetworkAddress(from), to: to, protocols: protocols)
        }
        #expect(error?.code == code)
    }
}

import InletCore
import InletRTC
import InletSignalingTesting
import InletTesting
import InletWebSocket
import Logging
import ReferenceTools
import Testing

@testable import RoomsPlugin

/// Checks that the room over WebSockets keeps the contract of signaling services, and its server the limits.
@Suite(.serialized) struct RoomConformanceTests {
    private static func server(
        _ change: (inout RoomServer.Configuration) -> Void = { _ in }
    ) async throws -> RoomServer {
        var configuration = RoomServer.Configuration()
        configuration.port = 0
        configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        change(&configuration)
        return try await onThread { [configuration] in try RoomServer(configuration) }
    }

    private static func member(
        _ server: RoomServer, _ id: String, room: String = "room", token: String? = nil
    ) throws -> WebSocketSignaling {
        var configuration = try WebSocketSignalingConfiguration(
            "ws://\(server.address)/\(room)", id: PeerID(id), token: token)
        configuration.backOff = .milliseconds(20)
        return try WebSocketSignaling(configuration)
    }

    private static func port(of server: RoomServer) throws -> Int {
        try #require(server.address.split(atByte: ":").last.flatMap { Int($0) })
    }

    /// A member that sends nothing after the request, and does not read.
    private static func silentMember(_ server: RoomServer, _ id: String) throws -> ReferenceSocket {
        let lines = [
            "GET /room?id=\(id) HTTP/1.1", "Host: \(server.address)", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", "",
        ]
        return try ReferenceSocket.thatFallsSilent(
            after: lines.joined(separator: "\r\n"), to: try port(of: server))
    }

    private static func webSocket(_ server: RoomServer, _ target: String) async throws -> WebSocketClient {
        try await WebSocketClient.connect(
            WebSocketConfiguration(address: WebSocketAddress("ws://\(server.address)\(target)")))
    }

    @Test("The room keeps the contract", .timeLimit(.minutes(2)))
    func conformance() async throws {
        let server = try await Self.server { $0.limits.messagesPerSecond = 10_000 }
        let violations = await SignalingConformance().check { id, instance in
            var configuration = try WebSocketSignalingConfiguration("ws://\(server.address)/room", id: id)
            configuration.instance = instance
            return try WebSocketSignaling(configuration)
        }
        #expect(violations == [])
        try await onThread { server.stop() }
    }

    @Test("A member whose connection breaks silently has left for the others", .timeLimit(.minutes(1)))
    func silence() async throws {
        let server = try await Self.server { configuration in
            configuration.limits.pingInterval = .milliseconds(100)
            configuration.limits.silence = .milliseconds(400)
        }
        let ann = try Self.member(server, "ann")
        // The member opens the WebSocket and then neither reads nor writes.
        let ben = try PeerID("ben")
        let dead = try Self.silentMember(server, "ben")
        var events = ann.events().makeAsyncIterator()
        var (hasJoined, hasLeft) = (false, false)
        while !hasLeft, let event = await events.next() {
            if case .joined(ben) = event { hasJoined = true }
            if case .opened(let peers) = event, peers.contains(ben) { hasJoined = true }
            if case .left(ben) = event { hasLeft = true }
        }
        #expect(hasJoined && hasLeft)
        withExtendedLifetime(dead) {}
        await ann.close()
        try await onThread { server.stop() }
    }

    @Test("Members reconnect to a restarted server, and messages sent meanwhile arrive", .timeLimit(.minutes(1)))
    func restart() async throws {
        let first = try await Self.server()
        let port = try Self.port(of: first)
        let (ann, ben) = (try Self.member(first, "ann"), try Self.member(first, "ben"))
        var annEvents = ann.events().makeAsyncIterator()
        let channel = try ann.channel(to: ben.localID)
        while let event = await annEvents.next() {
            if case .joined = event { break }
            if case .opened(let peers) = event, !peers.isEmpty { break }
        }
        var received = try ben.channel(to: ann.localID).incoming.makeAsyncIterator()
        try await channel.send(.bye(SignalingFlow("one")))
        #expect(await received.next() == .bye(SignalingFlow("one")))
        try await onThread { first.stop() }
        while let event = await annEvents.next() { if case .interrupted = event { break } }
        #expect(!ann.isOpen)
        try await channel.send(.bye(SignalingFlow("two")))
        let second = try await Self.server { $0.port = port }
        #expect(await received.next() == .bye(SignalingFlow("two")))
        await ann.close()
        await ben.close()
        try await onThread { second.stop() }
    }

    @Test("A member gets servers before it has entered, and new credentials in time", .timeLimit(.minutes(1)))
    func servers() async throws {
        let server = try await Self.server { configuration in
            configuration.ice.shared = (try? ICEServer("turn:127.0.0.1", user: "", password: "")).map { [$0] } ?? []
            (configuration.ice.secret, configuration.ice.lifetime) = ("north", .seconds(2))
        }
        let ann = try Self.member(server, "ann")
        let first = await ann.iceServers()
        let user = try #require(first.first?.user)
        #expect(first.count == 1 && user.hasByteSuffix(":ann") && first[0].password?.isEmpty == false)
        var next = first
        while next == first {
            try await Task.sleep(for: .milliseconds(20))
            next = await ann.iceServers()
        }
        #expect(next.count == 1 && next[0].user?.hasByteSuffix(":ann") == true)
        await ann.close()
        try await onThread { server.stop() }
    }

    @Test("A wrong token, a missing one and a taken name end the service with their reasons", .timeLimit(.minutes(1)))
    func refusals() async throws {
        let server = try await Self.server { $0.token = "a-token-of-mine" }
        for token in [nil, "another-token"] {
            let member = try Self.member(server, "ann", token: token)
            var last: SignalingEvent?
            for await event in member.events() { last = event }
            guard case .closed(let error?)? = last else {
                Issue.record("\(String(describing: last))")
                continue
            }
            #expect(error.code == .authenticationFailed)
        }
        let ann = try Self.member(server, "ann", token: "a-token-of-mine")
        var events = ann.events().makeAsyncIterator()
        guard case .opened? = await events.next() else {
            Issue.record("not opened")
            return
        }
        var configuration = try WebSocketSignalingConfiguration(
            "ws://\(server.address)/room?id=ann&token=a-token-of-mine")
        configuration.namePatience = .zero
        let other = try WebSocketSignaling(configuration)
        var last: SignalingEvent?
        for await event in other.events() { last = event }
        guard case .closed(let error?)? = last else {
            Issue.record("\(String(describing: last))")
            return
        }
        #expect(error.code == .busy && ann.isOpen)
        await ann.close()
        try await onThread { server.stop() }
    }

    @Test("Members per address are limited; other paths and requests get readable answers", .timeLimit(.minutes(1)))
    func requests() async throws {
        let server = try await Self.server { $0.limits.perAddress = 2 }
        let members = [
            try await Self.webSocket(server, "/a?id=1"), try await Self.webSocket(server, "/b?id=1"),
        ]
        for (target, code) in [
            ("/c?id=1", InletError.Code.serverUnavailable), ("/", .notFound), ("/a/b", .notFound),
            ("/a?id=a%20b", .unsupported),
        ] {
            let error = await #expect(throws: InletError.self) { try await Self.webSocket(server, target) }
            #expect(error?.code == code, "\(target): \(String(describing: error))")
        }
        await members[0].close()
        await members[1].close()
        try await onThread { server.stop() }
    }

    /// Enters a room by Python, and sends pings without reading. Then counts the pongs until the server closes the
    /// connection, or answers a last ping.
    private static let pings = """
        import socket, sys
        port, count = int(sys.argv[1]), int(sys.argv[2])
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.connect(("127.0.0.1", port))
        s.sendall((f"GET /room?id=ann HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\nUpgrade: websocket\\r\\n"
            "Connection: Upgrade\\r\\nSec-WebSocket-Version: 13\\r\\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n").encode())
        def ping(data): return bytes([0x89, 0x80 | len(data), 0, 0, 0, 0]) + data
        got = b""
        while b'"welcome"' not in got: got += s.recv(4096)
        s.sendall(ping(b"x" * 125) * count)
        got, pongs, said = got[got.index(b"\\r\\n\\r\\n") + 4:], 0, None
        s.settimeout(0.5)
        while said is None:
            while len(got) < 2 or len(got) < 2 + got[1] and got[1] < 126:
                try:
                    more = s.recv(65536)
                    if not more: sys.exit(f"no close frame after {pongs} pongs")
                    got += more
                except TimeoutError: s.sendall(ping(b"last"))
            size, start = got[1], 2
            if size == 126:
                while len(got) < 4: got += s.recv(4096)
                size, start = int.from_bytes(got[2:4], "big"), 4
            while len(got) < start + size: got += s.recv(4096)
            opcode, data, got = got[0] & 15, got[start:start + size], got[start + size:]
            if opcode == 10: pongs += 1
            if opcode == 8: said = int.from_bytes(data[:2], "big")
            if opcode == 10 and data == b"last": said = "open"
        print(said, pongs)
        """

    private static func pongs(_ server: RoomServer, count: Int) async throws -> (end: String, pongs: Int) {
        let output = try await ReferenceCommand.runAside(
            "/usr/bin/python3", ["-c", pings, "\(port(of: server))", "\(count)"])
        let words = String(decoding: output, as: UTF8.self).split { $0 == " " || $0 == "\n" }
        return (String(try #require(words.first)), try #require(words.last.flatMap { Int($0) }))
    }

    @Test("A member that sends many pings is closed with a policy error", .timeLimit(.minutes(1)))
    func manyPings() async throws {
        let server = try await Self.server()
        let (end, pongs) = try await Self.pongs(server, count: 2000)
        // 200 at once, and 50 a second.
        #expect(end == "1008" && pongs >= 200 && pongs < 2000, "\(end) \(pongs)")
        try await onThread { server.stop() }
    }

    @Test("Few pongs wait for a member that sends pings and does not read", .timeLimit(.minutes(1)))
    func unreadPongs() async throws {
        let server = try await Self.server { configuration in
            configuration.limits.messagesPerSecond = 1_000_000
            configuration.limits.unsentBytes = 65_536
        }
        let (end, pongs) = try await Self.pongs(server, count: 200_000)
        // 25 MB of pongs; the buffers of the system and of the server hold some.
        #expect(end == "open" && pongs * 127 < 6_000_000, "\(end) \(pongs)")
        try await onThread { server.stop() }
    }

    @Test("The data that others see of a member does not suffice to replace it", .timeLimit(.minutes(1)))
    func takeover() async throws {
        let server = try await Self.server()
        let secret = "secret-0123456789abcdef"
        let ann = try await Self.webSocket(server, "/room?id=ann&instance=\(secret)")
        _ = try await ann.next()
        let eve = try await Self.webSocket(server, "/room?id=eve")
        guard case .text(let welcome)? = try await eve.next(),
            case .welcome(_, let others, _) = try RoomMessage(json: welcome), let seen = others.first?.instance
        else {
            Issue.record("not welcome")
            return
        }
        // printf secret-0123456789abcdef | sha256sum
        #expect(seen.description == "93c6a5cd70ea776813ef8b32720e4199" && !welcome.containsBytes(secret))
        let other = try await Self.webSocket(server, "/room?id=ann&instance=\(seen)")
        guard case .text(let answer)? = try await other.next(),
            case .refused(let refusal) = try RoomMessage(json: answer)
        else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.reason == .taken)
        // The member itself reconnects, and is the same for others.
        let again = try await Self.webSocket(server, "/room?id=ann&instance=\(secret)")
        guard case .text(let second)? = try await again.next(), case .welcome = try RoomMessage(json: second) else {
            Issue.record("not welcome again")
            return
        }
        try await again.send(.text(#"{"type":"any","to":"eve"}"#))
        guard case .text(let message)? = try await eve.next() else {
            Issue.record("no message")
            return
        }
        #expect(message.containsBytes(#""from":"ann","instance":"\#(seen)""#))
        let short = await #expect(throws: InletError.self) {
            try await Self.webSocket(server, "/room?id=dan&instance=0123456789abcde")
        }
        #expect(short?.code == .unsupported)
        for member in [ann, eve, other, again] { await member.close() }
        try await onThread { server.stop() }
    }

    @Test("A member that does not read is removed before many messages wait for it", .timeLimit(.minutes(1)))
    func slowMember() async throws {
        let server = try await Self.server { configuration in
            configuration.limits.unsentBytes = 65_536
            configuration.limits.messagesPerSecond = 10_000
        }
        let ann = try await Self.webSocket(server, "/room?id=ann")
        let dead = try Self.silentMember(server, "ben")
        let text = "{\"type\":\"x\",\"to\":\"ben\",\"pad\":\"\(String(repeating: "x", count: 30_000))\"}"
        // The kernel's buffers of both ends fill first.
        let sending = Task { for _ in 0..<2000 { try await ann.send(.text(text)) } }
        var left = false
        while !left, let message = try await ann.next() {
            if case .text(let said) = message { left = said.containsBytes("\"left\"") }
        }
        #expect(left)
        sending.cancel()
        withExtendedLifetime(dead) {}
        await ann.close()
        try await onThread { server.stop() }
    }
}

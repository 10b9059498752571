import InletCore
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import InletHTTPServer

/// One connection without a network: the test advances the time and completes the writes.
@Suite struct HTTPConnectionTests {
    /// The state between a connection and its client.
    private final class Wire: ChannelDuplexHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundIn = ByteBuffer
        /// Whether the client reads.
        var isRead = true
        private(set) var reads = 0
        private(set) var text = ""
        private(set) var isShut = false
        private var waiting: [EventLoopPromise<Void>?] = []

        func read(context: ChannelHandlerContext) { reads += 1 }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            text += String(buffer: unwrapOutboundIn(data))
            waiting.append(promise)
        }

        func flush(context: ChannelHandlerContext) { if isRead { letThrough() } }

        func letThrough() {
            let promises = waiting
            waiting = []
            for promise in promises { promise?.succeed(()) }
        }

        /// A socket that is shut for writing still reads.
        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            guard mode == .output else { return context.close(mode: mode, promise: promise) }
            isShut = true
            promise?.succeed(())
        }
    }

    private final class Service: HTTPService {
        var steps: [String: HTTPStep] = [:]
        private(set) var asked: [String] = []
        private(set) var bodies: [String] = []
        private(set) var abandoned = 0
        private(set) weak var connection: HTTPConnection?

        init(_ connection: HTTPConnection) { self.connection = connection }

        func isPublic(_ request: HTTPRequest) -> Bool { request.path == "/public" }

        func begin(_ request: HTTPRequest, isKnown: Bool) -> HTTPStep {
            asked.append(request.path)
            return steps[request.path] ?? .answer(.text("answer to \(request.path)", .ok))
        }

        func finish(_ request: HTTPRequest, body: ByteBuffer) -> HTTPStep {
            bodies.append(String(buffer: body))
            return .answer(.text("taken", .created))
        }

        func abandon() { abandoned += 1 }
    }

    private struct Run {
        let channel = EmbeddedChannel()
        let wire = Wire()
        let service: Service

        init(token: String? = nil, steps: [String: HTTPStep] = [:]) throws {
            let gate = HTTPGate(
                AccessRule(host: "127.0.0.1", port: 1, token: token), connections: 4,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let received = ReceivedBytes(limit: 20_000)
            let id = try #require(gate.admit(channel))
            var service: Service?
            let connection = HTTPConnection(
                gate: gate, id: id, client: .unknown, limits: .init(answer: .seconds(5)), received: received
            ) { connection in
                let made = Service(connection)
                made.steps = steps
                service = made
                return made
            }
            try channel.pipeline.syncOperations.addHandlers([
                wire, received, HTTPResponseEncoder(), ByteToMessageHandler(HTTPRequestDecoder()), connection,
            ])
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            self.service = try #require(service)
        }

        func send(_ text: String) throws { try channel.writeInbound(ByteBuffer(string: text)) }

        func get(_ path: String, _ header: String = "x: y") throws {
            try send("GET \(path) HTTP/1.1\r\nhost: localhost\r\n\(header)\r\n\r\n")
        }

        func pass(_ time: TimeAmount) { channel.embeddedEventLoop.advanceTime(by: time) }

        /// Whether the connection would read the client's next bytes.
        var reads: Bool {
            let before = wire.reads
            channel.pipeline.read()
            return wire.reads > before
        }

        /// The statuses of the answers.
        var statuses: [String] {
            wire.text.split(separator: "HTTP/1.1 ").map { String($0.prefix(3)) }.filter { Int($0) != nil }
        }
    }

    @Test("A request is read when the answer to the one before is written, and not earlier")
    func oneAtATime() throws {
        let run = try Run()
        #expect(run.reads)
        run.wire.isRead = false
        try run.get("/1")
        #expect(run.statuses == ["200"])
        for _ in 0..<100 { #expect(!run.reads) }
        let before = run.wire.reads
        run.wire.letThrough()
        // Another waiting reader would read now.
        #expect(run.wire.reads == before + 1)
        run.wire.isRead = true
        try run.get("/2")
        #expect(run.service.asked == ["/1", "/2"])
        #expect(run.channel.isActive && !run.wire.isShut)
    }

    @Test("If requests are sent before answers are read, the first is answered; then the connection is closed")
    func pipelined() throws {
        let run = try Run()
        run.wire.isRead = false
        try run.send(String(repeating: "GET /a HTTP/1.1\r\nhost: localhost\r\n\r\n", count: 200))
        #expect(run.service.asked == ["/a"])
        #expect(run.wire.text.utf8.count < 2000)
        run.wire.letThrough()
        #expect(run.wire.isShut)
        // The remaining bytes are drained unread.
        #expect(run.reads)
        try run.get("/b")
        #expect(run.service.asked == ["/a"])
        run.pass(.seconds(1))
        #expect(!run.channel.isActive)
    }

    @Test("A client that does not read its answer, or sends no whole request in time, is disconnected")
    func deadlines() throws {
        let slow = try Run()
        slow.wire.isRead = false
        try slow.get("/")
        slow.pass(.milliseconds(4999))
        #expect(slow.channel.isActive)
        slow.pass(.milliseconds(1))
        #expect(!slow.channel.isActive)
        #expect(slow.service.abandoned == 0)

        for beginning in ["", "GET /", "GET / HTTP/1.1\r\nhost: localhost\r\nx: "] {
            let run = try Run()
            try run.send(beginning)
            for _ in 0..<19 {
                run.pass(.milliseconds(500))
                if !beginning.isEmpty { try run.send("a") }
            }
            #expect(run.channel.isActive)
            run.pass(.milliseconds(5500))
            #expect(!run.channel.isActive, "\(beginning)")
        }
    }

    @Test("A connection that idles between requests is kept for longer than clients keep it, and then closed")
    func idle() throws {
        let run = try Run()
        for count in 1...2 {
            try run.get("/")
            #expect(run.statuses == [String](repeating: "200", count: count))
            run.pass(.milliseconds(74_999))
            #expect(run.channel.isActive)
        }
        run.pass(.milliseconds(1))
        #expect(!run.channel.isActive)
        // A request that has begun has no more time than the first.
        let slow = try Run()
        try slow.get("/")
        slow.pass(.seconds(60))
        try slow.send("GET / HT")
        slow.pass(.seconds(10))
        try slow.send("TP/1.1\r\n")
        slow.pass(.milliseconds(4999))
        #expect(slow.channel.isActive)
        slow.pass(.milliseconds(1))
        #expect(!slow.channel.isActive)
    }

    @Test("A missing answer is replaced by another after its time, and a later one is ignored")
    func later() throws {
        let otherwise = HTTPAnswer.text("too late", .serviceUnavailable)
        let run = try Run(steps: ["/later": .later(within: .seconds(20), otherwise: otherwise)])
        try run.get("/later")
        #expect(!run.reads)
        run.pass(.seconds(19))
        #expect(run.statuses == [])
        run.pass(.seconds(1))
        #expect(run.statuses == ["503"] && run.service.abandoned == 1)
        run.service.connection?.answer(.text("late", .ok))
        try run.get("/later")
        run.service.connection?.answer(.text("in time", .ok))
        #expect(run.statuses == ["503", "200"])
        try run.get("/later")
        run.channel.close(promise: nil)
        #expect(run.service.abandoned == 2)
    }

    @Test(
        "Without a token a client gets 401 at once and is closed, with a wrong one after a wait; the right one works"
    )
    func tokens() throws {
        let none = try Run(token: "let-me-in-please")
        try none.get("/")
        #expect(none.statuses == ["401"] && none.wire.isShut && none.service.asked == [])

        let wrong = try Run(token: "let-me-in-please")
        try wrong.get("/", "authorization: Bearer let-me-in")
        #expect(wrong.statuses == [] && !wrong.reads)
        wrong.pass(.milliseconds(500))
        #expect(wrong.statuses == ["401"] && wrong.wire.isShut)

        let right = try Run(token: "let-me-in-please")
        try right.get("/", "authorization: Bearer let-me-in-please")
        #expect(right.statuses == ["200"] && !right.wire.isShut)
        try right.get("/public")
        #expect(right.statuses == ["200", "200"])

        let both = try Run(token: "let-me-in-please")
        try both.get("/?token=let-me-in", "authorization: Bearer let-me-in-please")
        #expect(both.statuses == [] && both.service.asked == [])
        both.pass(.milliseconds(500))
        #expect(both.statuses == ["200"] && !both.wire.isShut)
    }

    @Test("After ten wrong tokens not even the right one is checked")
    func guesses() throws {
        let run = try Run(token: "let-me-in")
        let gate = HTTPGate(
            AccessRule(host: "0.0.0.0", port: 1, token: "let-me-in"), connections: 4,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let id = try #require(gate.admit(run.channel))
        func status(_ token: String, from client: ClientAddress) throws -> HTTPResponseStatus {
            let head = HTTPRequestHead(
                version: .http1_1, method: .GET, uri: "/", headers: ["authorization": "Bearer \(token)"])
            switch gate.decide(try #require(HTTPRequest(head)), from: client, of: id, isPublic: false) {
            case .served: return .ok
            case .refused(let answer, _): return answer.status
            }
        }
        for number in 0..<10 { #expect(try status("wrong-\(number)", from: .ipv4(1)) == .unauthorized) }
        #expect(try status("let-me-in", from: .ipv4(1)) == .tooManyRequests)
        #expect(try status("let-me-in", from: .ipv4(2)) == .ok)
    }

    @Test("A wrong token with a right credential counts as one, and a cookie by itself is never locked out")
    func guessesBesideCredentials() throws {
        let run = try Run(token: "let-me-in")
        let rule = AccessRule(
            host: "0.0.0.0", port: 1, grants: [.init("boss-token-1234", .admin), .init("wall-token-1234", .view)])
        let gate = HTTPGate(rule, connections: 4, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let id = try #require(gate.admit(run.channel))
        func status(_ uri: String, _ headers: HTTPHeaders, from client: UInt32) throws -> HTTPResponseStatus {
            let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: uri, headers: headers)
            switch gate.decide(try #require(HTTPRequest(head)), from: .ipv4(client), of: id, isPublic: false) {
            case .served(_, let delay): return delay == .zero ? .ok : .accepted
            case .refused(let answer, _): return answer.status
            }
        }
        let shown = try #require(
            HTTPRequest(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/?token=wall-token-1234")))
        let cookie = try #require(gate.cookieHeader(for: shown)?.split(separator: ";").first)
        let credentials =
            [
                ["authorization": "Bearer wall-token-1234"], ["cookie": String(cookie)],
            ] as [HTTPHeaders]
        for (client, credential) in zip(UInt32(1)..., credentials) {
            for number in 0..<10 {
                #expect(try status("/?token=wrong-\(number)", credential, from: client) == .accepted)
            }
            #expect(try status("/?token=boss-token-1234", credential, from: client) == .tooManyRequests)
        }
        #expect(try status("/", ["cookie": String(cookie)], from: 2) == .ok)
    }

    @Test("A short token among long ones locks out no client that presents a long one")
    func guessesOfAShortToken() throws {
        let long = "wall-token-0123456789abcdef"
        let rule = AccessRule(
            host: "0.0.0.0", port: 1, grants: [.init("boss-token-1234", .admin), .init(long, .view)])
        let gate = HTTPGate(rule, connections: 4, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let id = try #require(gate.admit(EmbeddedChannel()))
        func status(_ uri: String, _ token: String) throws -> HTTPResponseStatus {
            let head = HTTPRequestHead(
                version: .http1_1, method: .GET, uri: uri, headers: ["authorization": "Bearer \(token)"])
            switch gate.decide(try #require(HTTPRequest(head)), from: .ipv4(1), of: id, isPublic: false) {
            case .served: return .ok
            case .refused(let answer, _): return answer.status
            }
        }
        for number in 0..<10 { #expect(try status("/", "wrong-token-\(number)") == .unauthorized) }
        #expect(try status("/", long) == .ok)
        // The answer does not depend on whether the other token is right.
        for guess in ["boss-token-1234", "wrong-token-1234"] {
            #expect(try status("/", guess) == .tooManyRequests)
            #expect(try status("/?token=\(guess)", long) == .tooManyRequests)
        }
    }

    @Test("A client that waits before it sends a body gets permission, or the final answer")
    func expectation() throws {
        let run = try Run(steps: ["/take": .read(5)])
        func begin(_ path: String, _ length: Int, expect: String = "100-Continue", version: String = "1.1") throws {
            try run.send(
                "POST \(path) HTTP/\(version)\r\nhost: localhost\r\ncontent-length: \(length)\r\n"
                    + "connection: keep-alive\r\nexpect: \(expect)\r\n\r\n")
        }
        try begin("/take", 5)
        #expect(run.wire.text == "HTTP/1.1 100 Continue\r\n\r\n" && run.reads)
        try run.send("12345")
        #expect(run.statuses == ["100", "201"] && run.service.bodies == ["12345"])
        // A client of HTTP 1.0 does not know status 100 (RFC 9110, 10.1.1).
        try begin("/take", 5, version: "1.0")
        try run.send("12345")
        #expect(run.statuses == ["100", "201", "201"] && !run.wire.isShut)
        try begin("/take", 6)
        #expect(run.statuses == ["100", "201", "201", "413"] && run.wire.isShut)

        let other = try Run()
        try other.send(
            "POST /other HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\nexpect: 100-continue\r\n\r\n")
        #expect(other.statuses == ["200"] && other.wire.isShut)
    }

    @Test("Bodies are read as far as they are wanted, or not at all")
    func bodies() throws {
        let run = try Run(steps: ["/take": .read(5)])
        func post(_ path: String, _ body: String) throws {
            try run.send(
                "POST \(path) HTTP/1.1\r\nhost: localhost\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)")
        }
        try post("/take", "12345")
        #expect(run.service.bodies == ["12345"] && run.statuses == ["201"])
        try post("/take", "123456")
        #expect(run.service.bodies == ["12345"] && run.statuses == ["201", "413"] && run.wire.isShut)

        let other = try Run()
        try other.send("POST /other HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n12345")
        #expect(other.statuses == ["200"] && other.wire.isShut)
        #expect(other.wire.text.contains("connection: close"))
    }

    @Test("Malformed requests, and heads that are too long, are answered and closed")
    func errors() throws {
        let run = try Run()
        try? run.send("nonsense\r\n\r\n")
        #expect(run.statuses == ["400"] && !run.channel.isActive)
        let long = try Run()
        try? long.send("GET / HTTP/1.1\r\nx: \(String(repeating: "a", count: 30_000))\r\n\r\n")
        #expect(!long.channel.isActive && long.service.asked == [])
    }

    @Test("One part of a stream is sent at a time, and a client that does not read it is disconnected")
    func stream() throws {
        let run = try Run(steps: ["/stream": .stream(["content-type": "text/plain"])])
        try run.get("/stream")
        let connection = try #require(run.service.connection)
        run.wire.isRead = false
        connection.send([ByteBuffer(string: "first")])
        connection.send([ByteBuffer(string: "second")])
        #expect(run.wire.text.contains("first") && !run.wire.text.contains("second"))
        run.wire.letThrough()
        run.pass(.seconds(60))
        #expect(run.channel.isActive && !run.reads)
        connection.send([ByteBuffer(string: "third")])
        #expect(run.wire.text.contains("third"))
        run.pass(.seconds(5))
        #expect(!run.channel.isActive && run.service.abandoned == 1)
    }
}

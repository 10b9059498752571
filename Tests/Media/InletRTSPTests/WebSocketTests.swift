import InletCore
import InletRTSP
import Testing

/// A client's WebSocket, with the examples of RFC 6455.
@Suite struct WebSocketTests {
    private static func handshake(user: String? = nil) throws -> WebSocketHandshake {
        WebSocketHandshake(
            HTTPEndpoint(
                try RTSPURL(Array("rtsp://192.168.0.1/live".utf8)), path: Array("/webSocketServer".utf8),
                userAgent: "Inlet"),
            credentials: user.map { RTSPCredentials(user: Array($0.utf8), password: Array("p".utf8)) },
            isEncrypted: false, nonce: Array("the sample nonce".utf8))
    }

    /// The server's answer of RFC 6455, section 1.3, with the subprotocol of ONVIF.
    private static let accepted = """
        HTTP/1.1 101 Switching Protocols\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r
        Sec-WebSocket-Protocol: rtsp.onvif.org\r
        \r\n
        """

    private static func outcome(
        _ handshake: inout WebSocketHandshake, _ answer: String, size: Int = .max
    ) throws -> (WebSocketHandshake.Outcome, left: Int) {
        var rest = Array(answer.utf8)[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(size))
            let (consumed, outcome) = try unsafe handshake.receive(piece.span.bytes)
            rest = rest.dropFirst(consumed)
            if outcome != .waiting { return (outcome, rest.count) }
        }
        return (.waiting, 0)
    }

    // MARK: The handshake

    @Test func theRequestIsTheOneOfTheONVIFSpecification() throws {
        var handshake = try Self.handshake()
        #expect(
            String(decoding: handshake.connected(), as: UTF8.self) == """
                GET /webSocketServer HTTP/1.1\r
                Host: 192.168.0.1\r
                User-Agent: Inlet\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                Sec-WebSocket-Version: 13\r
                Sec-WebSocket-Protocol: rtsp.onvif.org\r
                \r\n
                """)
    }

    @Test("The server's answer opens the WebSocket however it is split", arguments: [1, 2, 3, 7, 50, .max])
    func opens(_ size: Int) throws {
        var handshake = try Self.handshake()
        _ = handshake.connected()
        let (outcome, left) = try Self.outcome(&handshake, Self.accepted + "\u{81}", size: size)
        #expect(outcome == .open)
        // The first frame follows.
        #expect(size < 200 || left == 2)
    }

    @Test(
        "An answer with other wording opens it, too",
        arguments: [
            ("Upgrade: websocket", "upgrade: WebSocket"), ("Connection: Upgrade", "Connection: keep-alive, upgrade"),
            ("Sec-WebSocket-Protocol: rtsp.onvif.org\r\n", ""), ("Connection: Upgrade", "Connection:Upgrade "),
            ("HTTP/1.1 101", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101"),
        ])
    func variants(_ text: String, _ other: String) throws {
        var handshake = try Self.handshake()
        _ = handshake.connected()
        #expect(try Self.outcome(&handshake, Self.replacing(text, other)).0 == .open)
    }

    @Test(
        "A wrong answer opens nothing",
        arguments: [
            ("s3pP", "s3pQ", .malformedData), ("Upgrade: websocket", "Upgrade: h2c", .malformedData),
            ("Connection: Upgrade", "Connection: close", .malformedData),
            ("rtsp.onvif.org", "chat", .unsupported),
            ("Connection:", "Sec-WebSocket-Extensions: permessage-deflate\r\nConnection:", .malformedData),
            ("HTTP/1.1 101", "HTTP/1.1 200", .unsupported), ("HTTP/1.1 101", "HTTP/1.1 404", .notFound),
            ("HTTP/1.1 101", "RTSP/1.0 400", .unsupported), ("HTTP/1.1 101", "HTTP/1.1 426", .unsupported),
        ] as [(String, String, InletError.Code)])
    func refusals(_ text: String, _ other: String, _ code: InletError.Code) throws {
        var handshake = try Self.handshake()
        _ = handshake.connected()
        let error = #expect(throws: InletError.self) {
            try Self.outcome(&handshake, Self.replacing(text, other))
        }
        #expect(error?.code == code)
    }

    @Test func credentialsAreSentWhenTheServerAsksAndOnce() throws {
        let refusal =
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"cam\"\r\nContent-Length: 2\r\n\r\nno"
        var handshake = try Self.handshake(user: "u")
        _ = handshake.connected()
        #expect(try Self.outcome(&handshake, refusal).0 == .reconnect)
        #expect(String(decoding: handshake.connected(), as: UTF8.self).containsBytes("Authorization: Basic dTpw\r\n"))
        var accepting = handshake
        #expect(try Self.outcome(&accepting, Self.accepted).0 == .open)
        let error = #expect(throws: InletError.self) { try Self.outcome(&handshake, refusal) }
        #expect(error?.code == .authenticationFailed)
        var dumped = ""
        dump(handshake, to: &dumped)
        #expect(!dumped.containsBytes("dTpw") && !"\(handshake)".containsBytes("dTpw"))
    }

    private static func replacing(_ text: String, _ other: String) -> String {
        guard let range = accepted.firstRange(ofBytes: text) else { return "" }
        return accepted[..<range.lowerBound] + other + accepted[range.upperBound...]
    }

    // MARK: Frames

    private static let hello = Array("Hello".utf8)

    @Test(
        "Frames are read by RFC 6455, section 5.7",
        arguments: [
            ([0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F], hello),
            ([0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F], hello),
            ([0x82, 0x7E, 0x01, 0x00] + [UInt8](repeating: 7, count: 256), [UInt8](repeating: 7, count: 256)),
            (
                [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + [UInt8](repeating: 7, count: 65_536),
                [UInt8](repeating: 7, count: 65_536)
            ),
            // A ping between the fragments of a message (section 5.4), and frames without payload.
            ([0x02, 0x01, 0x48, 0x89, 0x00, 0x80, 0x00, 0x82, 0x04, 0x65, 0x6C, 0x6C, 0x6F], hello),
        ] as [([UInt8], [UInt8])])
    func frames(_ bytes: [UInt8], _ payload: [UInt8]) {
        #expect(WebSocketRun(bytes).stream == payload)
        #expect(WebSocketRun(bytes).error == nil)
    }

    @Test func aPingIsAnsweredAsInTheRFC() {
        let run = WebSocketRun([0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
        #expect(run.answers == [0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        #expect(run.stream.isEmpty)
    }

    @Test func onlyTheLatestOfManyPingsIsAnswered() {
        let pings = [[UInt8]](repeating: [0x89, 0x01, 0x41], count: 1000).flatMap(\.self) + [0x89, 0x00]
        #expect(WebSocketRun(pings).answers == [0x8A, 0x80, 0x37, 0xFA, 0x21, 0x3D])
    }

    @Test func aCloseIsAnsweredWithItsStatusAndEndsTheStream() {
        // 1000 with a reason (section 7.4.1), and a frame after it that does not count.
        let run = WebSocketRun([0x88, 0x04, 0x03, 0xE8, 0x6F, 0x6B, 0x81, 0x01, 0x41])
        #expect(run.isClosed && run.stream.isEmpty)
        #expect(run.answers == [0x88, 0x82, 0x37, 0xFA, 0x21, 0x3D, 0x34, 0x12])
        #expect(WebSocketRun([0x88, 0x00]).answers == [0x88, 0x80, 0x37, 0xFA, 0x21, 0x3D])
    }

    @Test(
        "Anything that a server may not send ends the stream",
        arguments: [
            [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D], [0xC1, 0x05], [0x83, 0x01], [0x8B, 0x00], [0x09, 0x00],
            [0x89, 0x7E, 0, 126], [0x80, 0x01], [0x01, 0x01, 0x41, 0x81, 0x01],
            [0x82, 0x7F, 0x80, 0, 0, 0, 0, 0, 0, 0],
            [0x82, 0x7F, 0, 0, 0, 0, 1, 0, 0, 1],
        ] as [[UInt8]])
    func violations(_ bytes: [UInt8]) {
        #expect(WebSocketRun(bytes).error?.code == .malformedData)
    }

    @Test func framesOfTheClientAreMaskedAsInTheRFC() {
        var output: [UInt8] = []
        WebSocketWriter.append(.binary, Self.hello, mask: 0x37FA_213D, to: &output)
        #expect(output == [0x82, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        for (count, head) in [
            (125, [0x82, 0xFD]), (126, [0x82, 0xFE, 0, 126]), (65_535, [0x82, 0xFE, 0xFF, 0xFF]),
            (65_536, [0x82, 0xFF, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] as [(Int, [UInt8])] {
            output = []
            WebSocketWriter.append(.binary, [UInt8](repeating: 0, count: count), mask: 0, to: &output)
            #expect(output.starts(with: head) && output.count == head.count + 4 + count)
        }
    }
}

/// Everything that a reader finds in some bytes.
struct WebSocketRun: Equatable {
    var stream: [UInt8] = []
    var answers: [UInt8] = []
    var isClosed = false
    var error: InletError?

    /// - Parameter sizes: the number of bytes that arrive at once, repeatedly.
    init(_ bytes: [UInt8], sizes: [Int] = [.max]) {
        var reader = WebSocketReader()
        var rest = bytes[...]
        var turn = 0
        while !rest.isEmpty, !isClosed {
            let piece = Array(rest.prefix(max(1, sizes[turn % sizes.count])))
            turn += 1
            rest = rest.dropFirst(piece.count)
            do throws(InletError) {
                try read(piece, &reader)
            } catch {
                self.error = error
                break
            }
        }
        reader.appendAnswer(mask: 0x37FA_213D, to: &answers)
        precondition(!reader.hasAnswer && answers.count <= 131, "too many answers")
    }

    private mutating func read(_ piece: [UInt8], _ reader: inout WebSocketReader) throws(InletError) {
        var position = 0
        while true {
            switch try unsafe reader.next(piece.span.bytes, &position) {
            case .payload(let range): stream += piece[range]
            case .closed:
                isClosed = true
                return
            case .needsMore:
                precondition(position == piece.count, "bytes are left")
                return
            }
        }
    }

    static func == (one: Self, other: Self) -> Bool {
        one.stream == other.stream && one.answers == other.answers && one.isClosed == other.isClosed
            && one.error?.message == other.error?.message
    }
}

import InletCore
import InletRTSP
import Testing

@Suite struct RTSPParserTests {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func known(ssrc: UInt32? = nil) -> RTSPParser.Settings {
        var settings = RTSPParser.Settings()
        settings.knownChannels = [0, 1]
        settings.knownPayloadTypes = [96]
        settings.knownSSRC = ssrc
        return settings
    }

    private static func response(_ run: ParserRun) -> RTSPResponse? {
        if case .response(let response) = run.items.first { response } else { nil }
    }

    @Test func responseWithRepeatedHeadersIsRead() throws {
        // bluenviron/gortsplib pkg/base/response_test.go, MIT.
        let run = ParserRun(
            Self.bytes(
                "RTSP/1.0 200 OK\r\nCSeq: 2\r\nDate: Sat, Aug 16 2014 02:22:28 GMT\r\nSession: 645252166\r\n"
                    + "WWW-Authenticate: Digest realm=\"4419b63f5e51\"\r\nWWW-Authenticate: Basic realm=\"x\"\r\n\r\n"))
        let response = try #require(Self.response(run))
        #expect(run.items.count == 1)
        #expect(response.status == 200)
        #expect(response.reason == Self.bytes("OK"))
        #expect(response.headers.cSeq == 2)
        #expect(response.headers.values("www-authenticate").count == 2)
        #expect(response.headers.text("SESSION") == "645252166")
    }

    @Test(
        "A status line may lack its reason",
        arguments: [
            "RTSP/1.0 200 \r\n\r\n", "RTSP/1.0 200\r\n\r\n", "RTSP/1.0 200\n\n", "\r\n\r\nRTSP/1.0 200\r\n\r\n",
        ])
    func reason(_ text: String) {
        #expect(ParserRun(Self.bytes(text)).items == [.response(RTSPResponse(status: 200))])
    }

    @Test(
        "Names and values lose the blanks around them",
        arguments: ["CSeq:2", "CSeq:  2", "CSeq : 2", "cseq: 2  ", "CSEQ\t:\t2"])
    func blanks(_ line: String) {
        let run = ParserRun(Self.bytes("RTSP/1.0 200 OK\r\n\(line)\r\n\r\n"))
        #expect(Self.response(run)?.headers.cSeq == 2)
    }

    @Test(arguments: ["", "CSeq: \r\n", "CSeq: x\r\n", "CSeq: -1\r\n"])
    func missingOrWrongNumberIsNone(_ line: String) {
        let run = ParserRun(Self.bytes("RTSP/1.0 200 OK\r\n\(line)\r\n"))
        #expect(Self.response(run) != nil)
        #expect(Self.response(run)?.headers.cSeq == nil)
    }

    @Test func continuationLineBelongsToTheHeaderBefore() {
        let run = ParserRun(Self.bytes("RTSP/1.0 200 OK\r\nPublic: OPTIONS,\r\n  PLAY\r\n\r\n"))
        #expect(Self.response(run)?.headers.text("Public") == "OPTIONS, PLAY")
    }

    @Test func bodyIsAsLongAsStated() throws {
        let run = ParserRun(
            Self.bytes("RTSP/1.0 200 OK\r\nContent-length: 5\r\n\r\nv=0\r\nRTSP/1.0 404 Not Found\r\n\r\n"))
        #expect(run.items.count == 2)
        #expect(Self.response(run)?.body == Self.bytes("v=0\r\n"))
        #expect(run.items.last == .response(RTSPResponse(status: 404, reason: Self.bytes("Not Found"))))
    }

    @Test func serverRequestIsRead() {
        // bluenviron/gortsplib pkg/base/request_test.go, "server-side announce", MIT.
        let run = ParserRun(Self.bytes("OPTIONS * RTSP/1.0\r\nCSeq: 1\r\nUser-Agent: RDIPCamera\r\n\r\n"))
        #expect(
            run.items == [
                .request(
                    RTSPRequest(
                        method: Self.bytes("OPTIONS"), uri: Self.bytes("*"),
                        headers: RTSPHeaders([("CSeq", "1"), ("User-Agent", "RDIPCamera")])))
            ])
    }

    @Test func webServerIsRecognized() {
        #expect(Self.response(ParserRun(Self.bytes("HTTP/1.1 400 Bad Request\r\n\r\n")))?.isHTTP == true)
    }

    @Test("A frame of any length is a packet", arguments: [0, 1, 4, 7, 8, 12, 10_000, 65_535])
    func frames(_ length: Int) {
        let payload = [UInt8](repeating: 0x80, count: length)
        for channel: UInt8 in [0, 13, 255] {
            #expect(ParserRun(frame(channel, payload)).items == [.packet(channel: channel, payload)])
        }
    }

    @Test func lineEndsBetweenFramesAreSkipped() {
        let bytes = frame(0, packet()) + [13, 10] + frame(1, [1]) + [10] + Self.bytes("RTSP/1.0 200 OK\r\n\r\n")
        #expect(
            ParserRun(bytes, settings: Self.known()).items == [
                .packet(channel: 0, packet()), .packet(channel: 1, [1]),
                .response(RTSPResponse(status: 200, reason: Self.bytes("OK"))),
            ])
    }

    @Test func packetsBetweenHeadAndBodyAndWithinBothAreFound() throws {
        // The places from curl's tests 571 and 3100.
        let report: [UInt8] = [0x80, 200, 0, 1, 1, 2, 3, 4]
        let bytes =
            Self.bytes("RTSP/1.0 200 OK\r\n") + frame(0, packet([1])) + Self.bytes("Content-Length: 40\r\n\r\n")
            + frame(0, packet([2])) + Self.bytes("0123456789") + frame(1, report)
            + Self.bytes("012$456789012345678901234567$9") + frame(0, packet([3]))
        let run = ParserRun(bytes, settings: Self.known())
        #expect(run.items.count == 5)
        #expect(run.items.filter { if case .packet = $0 { true } else { false } }.count == 4)
        let response = try #require(
            run.items.compactMap { if case .response(let response) = $0 { response } else { nil } }.first)
        #expect(response.body == Self.bytes("0123456789012$456789012345678901234567$9"))
    }

    @Test func bodyThatEndsInADollarIsNotWaitedFor() {
        // Nothing follows until the next request, so a parser that waits for a packet here waits forever.
        for length in [1, 5, 15, 16, 40] {
            let body = [UInt8](repeating: 0x61, count: length - 1) + [0x24]
            let bytes = Self.bytes("RTSP/1.0 200 OK\r\nContent-Length: \(length)\r\n\r\n") + body
            #expect(Self.response(ParserRun(bytes, settings: Self.known()))?.body == body)
        }
    }

    @Test func dollarsInABodyAreTextBeforeAnyChannelIsSetUp() {
        let body = frame(0, packet())
        let run = ParserRun(Self.bytes("RTSP/1.0 200 OK\r\nContent-Length: \(body.count)\r\n\r\n") + body)
        #expect(run.items.count == 1)
        #expect(Self.response(run)?.body == body)
    }

    // MARK: Garbage

    @Test func garbageIsSkippedUpToAResponse() {
        let run = ParserRun(Self.bytes("\u{1}\u{2}garbage RTSP/2 $ RTSP/1.0 200 OK\r\n\r\n"))
        #expect(run.items == [.gap(19), .response(RTSPResponse(status: 200, reason: Self.bytes("OK")))])
    }

    @Test func garbageIsSkippedUpToAPacketOfTheStream() {
        // Candidates with one error each: channel, version, payload type, source, size.
        var wrong = packet()
        wrong[0] = 0x40
        var other = packet()
        other[1] = 97
        var foreign = packet()
        foreign[11] = 0x45
        let garbage =
            [0xFF] + frame(9, packet()) + frame(0, wrong) + frame(0, other) + frame(0, foreign) + frame(0, [0x80, 96])
        let bytes = garbage + frame(0, packet()) + frame(9, packet())
        #expect(
            ParserRun(bytes, settings: Self.known(ssrc: 0x1122_3344)).items == [
                .gap(garbage.count), .packet(channel: 0, packet()), .packet(channel: 9, packet()),
            ])
    }

    @Test func cutFrameCostsNoMoreThanTheFrameBehindIt() {
        // The server wrote half of a frame, and continued with the next.
        let whole = frame(0, packet([UInt8](repeating: 9, count: 100)))
        let bytes: [UInt8] = Array(whole[..<60]) + whole + whole + whole
        let run = ParserRun(bytes, settings: Self.known())
        let packets = run.items.filter { $0 == .packet(channel: 0, Array(whole.dropFirst(4))) }
        #expect(packets.count == 2)
        #expect(run.items.contains { if case .gap = $0 { true } else { false } })
    }

    @Test func searchEndsAtItsLimit() {
        var settings = Self.known()
        settings.longestGap = 1000
        let run = ParserRun([UInt8](repeating: 1, count: 5000), settings: settings)
        #expect(run.items == [.failure(.synchronizationLost(skipped: 1001))])
    }

    @Test func repeatedFalseStartsCountAsOneSearch() {
        var settings = RTSPParser.Settings()
        settings.longestGap = 1000
        let run = ParserRun(Self.bytes(String(repeating: "RTSP/1.0 nonsense\r\n", count: 100)), settings: settings)
        #expect(run.items.last == .failure(.synchronizationLost(skipped: 1007)))
    }

    // MARK: Limits

    @Test func limitsHold() {
        let start = "RTSP/1.0 200 OK\r\n"
        let longLine = Self.bytes(start + "X: " + String(repeating: "a", count: 70_000))
        #expect(ParserRun(longLine).items == [.failure(.headTooLong(limit: 65_536))])
        let manyHeaders = Self.bytes(start + String(repeating: "Key: val\r\n", count: 300))
        #expect(ParserRun(manyHeaders).items == [.failure(.tooManyHeaders(limit: 255))])
        for length in ["1048577", "99999999999999999999999"] {
            let longBody = Self.bytes(start + "Content-Length: \(length)\r\n\r\n")
            #expect(ParserRun(longBody).items == [.failure(.bodyTooLong(limit: 1_048_576))])
        }
    }

    @Test(arguments: ["-5", "abc", "", "0"])
    func lengthThatIsNoneMeansNoBody(_ length: String) {
        let run = ParserRun(Self.bytes("RTSP/1.0 200 OK\r\nContent-Length: \(length)\r\n\r\n"))
        #expect(Self.response(run)?.body == [])
    }
}

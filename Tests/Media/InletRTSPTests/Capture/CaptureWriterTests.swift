import InletCore
import InletRTSP
import Testing

@Suite struct CaptureWriterTests {
    /// A packet whose payload reads as a header with a secret: no packet may be altered.
    private static let misleading = frame(0, packet(Array("\r\nSession: 87654321\r\nrtsp://a:b@c\r\n".utf8)))
    /// The replacements, which are random, have lowercase letters and digits only, so that a short secret with an
    /// uppercase letter cannot occur in them by chance.
    private static let secrets = ["12345678", "7Ypf", "s3cr3t", "viewer", "FQhe"]

    /// A connection with secrets in messages, and packets between and within them.
    private static let connection: [UInt8] = {
        var bytes = Array("RTSP/1.0 401 Unauthorized\r\nCSeq: 1\r\nWWW-Authenticate: Digest realm=\"s3cr3t\", ".utf8)
        bytes += Array("nonce=\"7Ypf/xlj9XXwfDPEoM4URrv\", opaque=\"FQhe/qaU925kfnzjCev0ciny\"\r\n\r\n".utf8)
        bytes += Array("RTSP/1.0 200 OK\r\nCSeq: 2\r\nContent-Base: rtsp://viewer:s3cr3t@camera/\r\n".utf8)
        bytes += Array("Content-Length: 60\r\n\r\nv=0\r\na=control:rtsp://viewer:s3cr3t@".utf8) + misleading
        bytes += Array("camera/trackID=1\r\n".utf8) + [UInt8](repeating: 0x20, count: 5) + [13, 10]
        bytes += Array("RTSP/1.0 200 OK\r\nCSeq: 3\r\nSession: 12345678;timeout=60\r\n".utf8) + misleading
        bytes += Array("X: y\r\n\r\n".utf8) + misleading + misleading + [13, 10] + misleading
        bytes += Array("OPTIONS * RTSP/1.0\r\nCSeq: 9\r\nSession: 12345678\r\n\r\n".utf8)
        bytes += [1, 2, 3] + Array("lost\r\nAuthorization: Basic s3cr3t==\r\n".utf8) + misleading
        bytes += Array("RTSP/1.0 200 OK\r\nSession: 12345678\r\n\r\n".utf8) + misleading
        return bytes
    }()

    private static var settings: RTSPParser.Settings {
        var settings = RTSPParser.Settings()
        settings.knownChannels = [0, 1]
        settings.knownPayloadTypes = [96]
        return settings
    }

    private static func time(_ nanoseconds: Int) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(nanoseconds)) }

    /// A client's report of a connection whose bytes arrive in pieces of these sizes, and which then ends.
    private struct Run {
        var chunks: [[UInt8]] = []
        var records: [CaptureRecord] = []
        var file: [UInt8] = []

        init(_ bytes: [UInt8], sizes: [Int] = [.max], settings: RTSPParser.Settings = CaptureWriterTests.settings)
            throws
        {
            var writer = CaptureWriter(CaptureHeader(), start: time(1000))
            writer.open("rtsp", at: time(1000))
            var parser = RTSPParser(settings: settings)
            var (buffer, rest, turn) = ([UInt8](), bytes[...], 0)
            receiving: while !rest.isEmpty {
                let chunk = Array(rest.prefix(max(1, sizes[turn % sizes.count])))
                turn += 1
                rest = rest.dropFirst(chunk.count)
                buffer += chunk
                chunks.append(chunk)
                unsafe writer.receive(chunk.span.bytes, hasMore: turn.isMultiple(of: 2), at: time(1000 + 10 * turn))
                while true {
                    do throws(RTSPParserError) {
                        let (event, consumed) = try unsafe parser.next(buffer.span.bytes)
                        writer.note(event, consumed: consumed)
                        buffer.removeFirst(consumed)
                        if case .needsMore = event { break }
                    } catch {
                        writer.noteParserFailure()
                        break receiving
                    }
                }
                file += writer.takeOutput()
            }
            writer.close("ended", at: time(1000 + 10 * turn))
            file += writer.takeOutput()
            var reader = CaptureReader()
            reader.append(file)
            while let record = try reader.next() { records.append(record) }
            #expect(!reader.isTorn)
        }

        var received: [CaptureRecord] { records.filter { $0.knownKind == .received } }
        var bytes: [UInt8] { received.flatMap(\.bytes) }
    }

    private static func holds(_ file: [UInt8], _ secret: String) -> Bool {
        let secret = Array(secret.utf8)
        return file.indices.contains { file[$0...].starts(with: secret) }
    }

    @Test("However the bytes arrive, no secret is written, and the parser finds the same", arguments: 0..<150)
    func splits(_ seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        let sizes = seed < 40 ? [seed + 1] : (0..<16).map { _ in Int.random(in: 1...90, using: &random) }
        let run = try Run(Self.connection, sizes: sizes)
        for secret in Self.secrets { #expect(!Self.holds(run.file, secret)) }
        #expect(run.received.map(\.bytes.count) == run.chunks.map(\.count))
        #expect(run.received.map(\.time) == run.chunks.indices.map { Int64(10 * ($0 + 1)) })
        #expect(run.received.map(\.hasMore) == run.chunks.indices.map { !$0.isMultiple(of: 2) })
        let (before, after) = (
            ParserRun(Self.connection, settings: Self.settings).items,
            ParserRun(run.bytes, settings: Self.settings).items
        )
        #expect(after.count == before.count && after.count > 10)
        for (before, after) in zip(before, after) {
            switch (before, after) {
            case (.packet, .packet), (.gap, .gap): #expect(before == after)
            case (.response(let before), .response(let after)):
                #expect(before.status == after.status && before.headers.cSeq == after.headers.cSeq)
                #expect(before.body.count == after.body.count)
            case (.request(let before), .request(let after)): #expect(before.method == after.method)
            default: Issue.record("\(before) became \(after)")
            }
        }
        // The session is the same, wherever it was split.
        let sessions = after.compactMap { item -> [UInt8]? in
            switch item {
            case .response(let response): response.headers.first("Session")?.prefix(8).map { $0 }
            case .request(let request): request.headers.first("Session")
            default: nil
            }
        }
        #expect(sessions.count == 3 && Set(sessions).count == 1)
    }

    @Test("A request is written at once, without its secrets, and a report unchanged")
    func sent() throws {
        var writer = CaptureWriter(CaptureHeader(), start: Self.time(0))
        _ = writer.takeOutput()
        writer.send(
            Array("PLAY rtsp://camera/ RTSP/1.0\r\nAuthorization: Basic czNjcjN0\r\nSession: 12345678\r\n\r\n".utf8),
            at: Self.time(5))
        let request = writer.takeOutput()
        #expect(request.count > 16 && !Self.holds(request, "czNjcjN0") && !Self.holds(request, "12345678"))
        #expect(Self.holds(request, "PLAY rtsp://camera/ RTSP/1.0\r\nAuthorization: Basic "))
        writer.send(Self.misleading, at: Self.time(6))
        #expect(Array(writer.takeOutput().dropFirst(16)) == Self.misleading)
    }

    @Test("Records stay in order after an incomplete message, and are not lost with it")
    func order() throws {
        var writer = CaptureWriter(CaptureHeader(), start: Self.time(0))
        let bytes = Array("RTSP/1.0 200 OK\r\nSession: 123456789".utf8)
        unsafe writer.receive(bytes.span.bytes, hasMore: false, at: Self.time(1))
        writer.note(.needsMore(atLeast: 1), consumed: bytes.count)
        unsafe writer.datagram(.packet, Self.misleading.span.bytes, hasMore: true, at: Self.time(2))
        writer.timer(at: Self.time(3))
        var file = writer.takeOutput()
        #expect(file == CaptureHeader().bytes)
        writer.close("disconnected", at: Self.time(4))
        file += writer.takeOutput()
        var reader = CaptureReader()
        reader.append(file)
        var records: [CaptureRecord] = []
        while let record = try reader.next() { records.append(record) }
        #expect(records.map(\.knownKind) == [.received, .packet, .timer, .closed])
        #expect(records.map(\.time) == [1, 2, 3, 4])
        #expect(records[1].bytes == Self.misleading && records[1].hasMore)
        #expect(!Self.holds(file, "123456789"))
    }

    @Test("The bytes that make the parser give up are written")
    func parserFailure() throws {
        var settings = Self.settings
        settings.longestHead = 64
        let bytes = Array("RTSP/1.0 200 OK\r\nSession: 12345678\r\nX: ".utf8) + [UInt8](repeating: 0x41, count: 300)
        let run = try Run(bytes, sizes: [50], settings: settings)
        #expect(run.bytes.count == 100 && !Self.holds(run.file, "12345678"))
        let items = ParserRun(run.bytes, settings: settings).items
        #expect(items == [.failure(.headTooLong(limit: 64))])
    }

    @Test("An endless message is masked as it arrives, and buffered within limits")
    func bounds() throws {
        var writer = CaptureWriter(CaptureHeader(), start: Self.time(0))
        var written = writer.takeOutput().count
        var received = written
        let piece = Array("secret-and-more\n".utf8) + [UInt8](repeating: 0x41, count: 65_520)
        let packet = [UInt8](repeating: 0x24, count: 65_536)
        for index in 0..<200 {
            let bytes = index.isMultiple(of: 2) ? piece : packet
            unsafe writer.receive(bytes.span.bytes, hasMore: false, at: Self.time(index))
            let event = RTSPParser.Event.interleaved(channel: 0, range: 4..<bytes.count)
            writer.note(index.isMultiple(of: 2) ? .needsMore(atLeast: 1) : event, consumed: bytes.count)
            received += 16 + bytes.count
            let output = writer.takeOutput()
            #expect(!Self.holds(Array(output.prefix(64)), "secret"))
            written += output.count
            #expect(received - written <= CaptureWriter.mostHeld + (1 << 17))
        }
        #expect(written > 8 << 20)
    }

    @Test("A capture ends where its client's parser stops: the buffer is bounded")
    func stuckParser() throws {
        var writer = CaptureWriter(CaptureHeader(), start: Self.time(0))
        let piece = [UInt8](repeating: 0x41, count: 65_536)
        var file = writer.takeOutput()
        for index in 0..<200 {
            unsafe writer.receive(piece.span.bytes, hasMore: false, at: Self.time(index))
            file += writer.takeOutput()
        }
        writer.close("left", at: Self.time(300))
        file += writer.takeOutput()
        var reader = CaptureReader()
        reader.append(file)
        var records: [CaptureRecord] = []
        while let record = try reader.next() { records.append(record) }
        #expect(records.map(\.knownKind) == [.closed])
        #expect(records.first?.bytes == Array("too much to hold".utf8))
    }

    @Test("Changed bytes neither crash the writer nor change a length", arguments: 0..<2000)
    func mutation(_ seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        var bytes = Self.connection
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            let index = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
            case 1: bytes.remove(at: index)
            default: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: index)
            }
        }
        let run = try Run(bytes, sizes: (0..<8).map { _ in Int.random(in: 1...90, using: &random) })
        #expect(run.received.map(\.bytes.count) == run.chunks.map(\.count))
        let packets = { (items: [ParserRun.Item]) in items.filter { if case .packet = $0 { true } else { false } } }
        #expect(
            packets(ParserRun(run.bytes, settings: Self.settings).items)
                == packets(ParserRun(bytes, settings: Self.settings).items))
    }
}

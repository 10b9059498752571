import InletCore
import InletRTSP
import Testing

@Suite struct RTSPParserSplitTests {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// A connection with everything in it: messages, packets in odd places, garbage.
    private static let connection: [UInt8] = {
        let report: [UInt8] = [0x80, 200, 0, 1, 1, 2, 3, 4]
        var bytes = Self.bytes("RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 24\r\n\r\nv=0\r\nm=video 0 RTP/AVP")
        bytes += Self.bytes(" 9") + frame(0, packet()) + [13, 10] + frame(1, report)
        bytes += Self.bytes("OPTIONS * RTSP/1.0\r\nCSeq: 9\r\n\r\n") + frame(0, []) + frame(7, packet([9, 9]))
        bytes += Self.bytes("RTSP/1.0 401 Unauthorized\n") + frame(0, packet()) + Self.bytes("CSeq: 2\n\n")
        bytes += frame(0, packet([UInt8](repeating: 0x24, count: 300)))
        bytes += [0x24, 0x24, 0, 0x40, 0x80, 0x52] + Self.bytes("RTSP/1.") + frame(1, packet([1]))
        bytes += Self.bytes("RTSP/1.0 200 OK\r\nContent-Length: 30\r\n\r\n$") + frame(0, packet([5]))
        bytes += Self.bytes("$23456789$123456789$12345678$") + Self.bytes("RTSP/1.0 454 Session Not Found\r\n\r\n")
        return bytes
    }()

    private static var settings: RTSPParser.Settings {
        var settings = RTSPParser.Settings()
        settings.knownChannels = [0, 1]
        settings.knownPayloadTypes = [96]
        return settings
    }

    @Test("Any split of the bytes finds what one chunk finds", arguments: 0..<200)
    func split(_ seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let sizes = seed < 40 ? [seed + 1] : (0..<16).map { _ in Int.random(in: 1...60, using: &random) }
        let whole = ParserRun(Self.connection, settings: Self.settings)
        #expect(whole.items.count > 10)
        #expect(ParserRun(Self.connection, settings: Self.settings, sizes: sizes).items == whole.items)
    }

    @Test("Changed bytes neither crash the parser nor break its limits", arguments: 0..<3000)
    func mutation(_ seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var bytes = Self.connection
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            let index = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: index)
            default: bytes.replaceSubrange(index..<min(index + 20, bytes.count), with: bytes.prefix(9))
            }
        }
        var settings = Self.settings
        settings.longestBody = 500
        settings.longestHead = 300
        let whole = ParserRun(bytes, settings: settings)
        let sizes = (0..<8).map { _ in Int.random(in: 1...40, using: &random) }
        let split = ParserRun(bytes, settings: settings, sizes: sizes)
        #expect(split.items == whole.items)
        #expect(split.largestRest <= 65_539)
    }
}

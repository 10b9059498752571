import InletCore
import InletRTSP
import Testing

/// The bytes of a tunnel's server in any split, and harmful bytes.
@Suite struct TunnelBytesTests {
    private static let tunnel = """
        HTTP/1.1 100 Continue\r\n\r\n\(HTTPTunnelTests.accepted)RTSP/1.0 200 OK\r\nCSeq: 1\r\n\r\n$\u{0}\u{0}\u{1}a
        """

    private static func stream(of text: [UInt8], sizes: [Int]) -> (stream: [UInt8], error: String?) {
        guard var run = try? HTTPTunnelTests.Run() else { return ([], "no tunnel") }
        _ = run.connect(.get)
        var rest = text[...]
        var turn = 0
        while !rest.isEmpty {
            let piece = Array(rest.prefix(max(1, sizes[turn % sizes.count])))
            turn += 1
            rest = rest.dropFirst(piece.count)
            do throws(InletError) {
                let (consumed, action) = try unsafe run.tunnel.receive(piece.span.bytes, on: .get)
                #expect((0...piece.count).contains(consumed))
                if run.tunnel.isCarrying {
                    run.stream += piece[consumed...]
                } else {
                    #expect(consumed == piece.count || action != nil)
                }
                // The rest of a refused connection is never read.
                if action == .connect(.get) { break }
            } catch {
                return (run.stream, error.message)
            }
        }
        return (run.stream, nil)
    }

    @Test("Any split of the server's bytes is the same stream", arguments: 1..<120)
    func split(_ size: Int) {
        let whole = Self.stream(of: Array(Self.tunnel.utf8), sizes: [.max])
        #expect(whole.stream.starts(with: "RTSP/1.0 200 OK\r\n".utf8) && whole.error == nil)
        let split = Self.stream(of: Array(Self.tunnel.utf8), sizes: [size])
        #expect(split.stream == whole.stream && split.error == nil)
    }

    /// Frames of all kinds.
    private static let frames: [UInt8] =
        [0x82, 0x05, 0x24, 0, 0, 1, 9, 0x02, 0x03, 1, 2, 3, 0x89, 0x02, 7, 7, 0x00, 0x00, 0x80, 0x02, 4, 5]
        + [0x82, 0x7E, 0x00, 0xC8] + [UInt8](repeating: 0x55, count: 200)
        + [0x82, 0x7F, 0, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3, 0x8A, 0x01, 1, 0x88, 0x03, 3, 0xE8, 0x41, 0x82, 0x01, 0]

    @Test("Any split of frames is the same stream", arguments: 1..<240)
    func frameSplit(_ size: Int) {
        let whole = WebSocketRun(Self.frames)
        #expect(whole.stream.count == 213 && whole.isClosed && whole.error == nil)
        #expect(WebSocketRun(Self.frames, sizes: [size]) == whole)
    }

    @Test("Changed frames do no harm, and are read alike in any split", arguments: 0..<3000)
    func changedFrames(_ seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let bytes = Self.mutated(Self.frames, &random)
        let whole = WebSocketRun(bytes)
        #expect(whole.stream.count <= bytes.count)
        let sizes = (0..<8).map { _ in Int.random(in: 1...40, using: &random) }
        #expect(WebSocketRun(bytes, sizes: sizes) == whole)
    }

    @Test("Changed answers do no harm, and are read alike in any split", arguments: 0..<3000)
    func changedAnswers(_ seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        let refusal = Array("HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"a\", nonce=\"b\"\r\n\r\n".utf8)
        let bytes = Self.mutated(seed % 2 == 0 ? Array(Self.tunnel.utf8) : refusal, &random)
        let sizes = (0..<8).map { _ in Int.random(in: 1...40, using: &random) }
        let (whole, split) = (Self.stream(of: bytes, sizes: [.max]), Self.stream(of: bytes, sizes: sizes))
        #expect(whole.stream == split.stream && whole.error == split.error)
        #expect(whole.stream.count <= bytes.count)
        var post = try HTTPTunnelTests.Run.carrying()
        _ = try? post.receive(String(decoding: bytes, as: UTF8.self), on: .post, size: sizes[0])
        _ = try? post.tunnel.ended(.post)
    }

    @Test func aHeadWithoutAnEndIsRefused() {
        let endless = Array("HTTP/1.1 200 OK\r\nX: ".utf8) + [UInt8](repeating: 0x61, count: 70_000)
        #expect(Self.stream(of: endless, sizes: [1000]).error != nil)
        let interim = Array(String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 4000).utf8)
        #expect(Self.stream(of: interim, sizes: [1000]).error != nil)
    }

    private static func mutated(_ original: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        var bytes = original
        for _ in 0..<Int.random(in: 1...10, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: index)
            default: bytes.removeSubrange(index..<min(index + 20, bytes.count))
            }
        }
        return bytes
    }
}

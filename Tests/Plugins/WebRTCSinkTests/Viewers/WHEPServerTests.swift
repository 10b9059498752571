#if GStreamer
import FFmpegSink
import InletCapture
import InletCore
import InletHTTPServer
import ReferenceTools
import Testing

@testable import WebRTCSink

/// The server on real sockets, tested with curl.
@Suite(.tags(.rtcPeer)) struct WHEPServerTests {
    @Test("Each bad request gets its status, and the server continues")
    func statuses() async throws {
        let folder = try TemporaryFolder()
        let large = folder.path("large")
        try ReferenceCommand.run("bash", ["-c", "head -c 70000 /dev/zero | tr '\\0' a > \(large)"])
        let sdp = ["-H", "content-type: application/sdp"]
        let table: [(String, [String], Int)] = [
            ("/whep", ["-X", "OPTIONS"], 204), ("/whep", [], 405), ("/whep", ["-X", "PUT"], 405),
            ("/whep", ["-d", "v=0"], 415),
            ("/whep", sdp + ["-d", "v=0"], 400), ("/whep", sdp + ["-d", ""], 400),
            ("/whep", sdp + ["--data-binary", "@\(large)"], 413),
            ("/whep", sdp + ["-H", "transfer-encoding: chunked", "--data-binary", "@\(large)"], 413),
            ("/whep/none", ["-X", "DELETE"], 404), ("/whep/none", ["-X", "PATCH"], 404), ("/none", [], 404),
            ("/", ["-X", "POST"], 405),
            ("/", ["-H", "host: evil.example"], 421), ("/stats.json", [], 200), ("/", [], 200),
        ]
        try await ViewerRun.with { (run: ViewerRun) async throws in
            for (path, arguments, status) in table {
                #expect(try await run.status(path, arguments) == status, "\(arguments) \(path)")
            }
        }
    }

    @Test("A client without a token gets neither the page nor a session")
    func token() async throws {
        try await ViewerRun.with(token: "let-me-in") { (run: ViewerRun) async throws in
            let offer = ["-H", "content-type: application/sdp", "-d", "v=0"]
            let bearer = ["-H", "authorization: Bearer let-me-in"]
            #expect(try await run.status("/", []) == 401)
            #expect(try await run.status("/?token=let-me-i", []) == 401)
            #expect(try await run.status("/?token=let-me-in", []) == 200)
            #expect(try await run.status("/stats.json", []) == 401)
            #expect(try await run.status("/whep", offer) == 401)
            #expect(try await run.status("/whep", offer + bearer) == 400)
            #expect(try await run.status("/whep", ["-X", "OPTIONS"]) == 204)
        }
    }

    @Test("The page's cookie is an expiry and its code, opens sessions, and no answer is for other sites' pages")
    func cookie() async throws {
        try await ViewerRun.with(token: "let-me-in") { (run: ViewerRun) async throws in
            let head = try await run.curl(["-I"], "/?token=let-me-in")
            let lines = head.split(separator: "\r\n")
            #expect(lines.contains("cross-origin-resource-policy: same-origin"))
            let cookie = try #require(lines.first { $0.hasPrefix("set-cookie: ") }?.dropFirst(12))
            #expect(cookie.hasSuffix("; Max-Age=86400; Path=/; HttpOnly; SameSite=Strict"))
            #expect(!cookie.contains("let-me-in"))
            let offer = ["-H", "content-type: application/sdp", "-d", "v=0"]
            #expect(try await run.status("/whep", offer + ["-b", String(cookie.prefix { $0 != ";" })]) == 400)
        }
    }

    @Test("At a loopback address, candidates are gathered only there, unless the configuration overrides it")
    func gathering() async throws {
        for reachesOut in [false, true] {
            try await ViewerRun.with(change: { $0.reachesOut = reachesOut }) { (run: ViewerRun) async throws in
                let answer = try await run.curl(
                    ["-H", "content-type: application/sdp", "--data-binary", ThrowawayOffer.sdp], "/whep")
                let addresses = answer.split(separator: "\r\n").filter { $0.hasPrefix("a=candidate:") }
                    .compactMap { $0.split(separator: " ").dropFirst(4).first }
                #expect(!addresses.isEmpty)
                let others = addresses.filter { $0 != "127.0.0.1" }
                if !reachesOut { #expect(others.isEmpty, "\(others)") }
                // If the machine has a network.
                if reachesOut, Self.hasNetwork { #expect(!others.isEmpty) }
            }
        }
    }

    private static let hasNetwork =
        (try? ReferenceCommand.run("ip", ["-o", "addr", "show", "scope", "global", "up"]))?.isEmpty == false

    @Test("The sessions of one address are limited, and others still get theirs")
    func quota() async throws {
        try await ViewerRun.with(change: { $0.viewersPerClient = 2 }) { (run: ViewerRun) async throws in
            let offer = ["-H", "content-type: application/sdp", "--data-binary", ThrowawayOffer.sdp]
            for (address, status) in [
                ("127.0.0.2", 201), ("127.0.0.2", 201), ("127.0.0.2", 429), ("127.0.0.1", 201),
            ] {
                #expect(try await run.status("/whep", offer + ["--interface", address]) == status, "\(address)")
            }
        }
    }

    @Test("A pipeline has the offer's numbers, and the SSRC twice")
    func pipeline() throws {
        let pipeline = try #require(ViewerPipeline(.h264))
        let text = pipeline.text(payload: 106, source: 77, transportWideSequence: 3).pipeline
        #expect(text.contains("pt=106 ssrc=77"))
        #expect(text.contains("payload=106,ssrc=(uint)77"))
        #expect(text.contains("extmap-3="))
        #expect(!pipeline.text(payload: 106, source: 77, transportWideSequence: nil).caps.contains("extmap"))
    }

    /// The first bytes of a sequence parameter set: profile_idc and the constraint flags (ITU-T H.264, 7.3.2.1.1).
    @Test("The sent stream is decoded by every browser: constrained baseline")
    func profile() throws {
        let encoder = FFmpegVideoEncoder()
        let format = VideoFormat(size: ImageSize(width: 640, height: 480), timeBase: Rational(1, 1000))
        var settings = EncoderSettings(rate: .bitrate(1_000_000))
        settings.profile = .constrainedBaseline
        let sets = try encoder.open(format, settings).extraData
        let start = try #require(sets.indices.first { sets[$0...].starts(with: [0, 0, 1]) })
        #expect(sets[start + 3] & 31 == 7)
        #expect(sets[start + 4] == 66)
        #expect(sets[start + 5] & 0b0100_0000 != 0)
    }

    @Test(
        "A server that others can reach has a token, even if none is given, and contradictions are refused")
    func configuration() throws {
        var configuration = WebRTCSinkConfiguration(host: "0.0.0.0") { Unused() }
        try configuration.validate()
        #expect(configuration.access.token != nil && configuration.access.isGenerated)
        #expect(configuration.gatheringAddress == nil)
        configuration.host = "127.0.0.1"
        #expect(configuration.access.token == nil && configuration.gatheringAddress == "127.0.0.1")
        // Any page open in a browser on this machine could watch.
        configuration.origins = ["*"]
        #expect(throws: InletError.self) { try configuration.validate() }
        configuration.token = "let-me-in"
        try configuration.validate()
        configuration.reachesOut = true
        #expect(configuration.gatheringAddress == nil)
        configuration.viewersPerClient = 0
        #expect(throws: InletError.self) { try configuration.validate() }
        configuration.viewersPerClient = 1
        configuration.viewers = 0
        #expect(throws: InletError.self) { try configuration.validate() }
    }

    private final class Unused: VideoEncoder {
        func open(_ format: VideoFormat, _ settings: EncoderSettings) throws -> CodecParameters {
            throw SinkStopped()
        }
        func encode(_ frame: VideoFrame, wantsKeyFrame: Bool) throws -> [EncodedPacket] { [] }
        func change(bitrate: Int?, frameRate: Rational?) throws {}
        func flush() throws -> [EncodedPacket] { [] }
    }
}
#endif

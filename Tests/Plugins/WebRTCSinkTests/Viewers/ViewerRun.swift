#if GStreamer
import FFmpegSink
import Foundation
import InletCapture
import InletCore
import InletRTC
import PatternSource
import ReferenceTools
import WebRTCSink

/// A capture with viewers.
struct ViewerRun {
    let address: String
    let capturer: Capturer
    let broadcast: WebRTCBroadcast

    /// Runs a capture while `body` runs.
    ///
    /// - Parameters:
    ///   - source: the source. The default is the timecode in `size`.
    ///   - change: changes the sink's configuration.
    static func with(
        size: ImageSize = ImageSize(width: 640, height: 480), token: String? = nil, viewers: Int = 100,
        source: (any FrameSourceConfiguration)? = nil, change: (inout WebRTCSinkConfiguration) -> Void = { _ in },
        capture: (inout CapturerConfiguration) -> Void = { _ in },
        _ body: (ViewerRun) async throws -> Void
    ) async throws {
        let port = try FreePort.find()
        var sink = WebRTCSinkConfiguration(port: port, token: token) { FFmpegVideoEncoder() }
        sink.viewers = viewers
        // A busy machine must not reduce the picture size. Tests that need smaller pictures set this.
        sink.rates.minimum = sink.rates.start
        change(&sink)
        var configuration = CapturerConfiguration()
        capture(&configuration)
        let capturer = Capturer(
            source ?? PatternConfiguration(.timecode, size: size, frameRate: Rational(30)),
            configuration: configuration)
        capturer.attach(sink)
        let run = ViewerRun(
            address: "http://127.0.0.1:\(port)", capturer: capturer, broadcast: sink.broadcast)
        async let outcome = capturer.run()
        do {
            try await run.curl(
                ["-o", "/dev/null", "--retry", "60", "--retry-connrefused", "--retry-delay", "1"], "/")
            try await body(run)
        } catch {
            capturer.stop()
            _ = try? await outcome
            throw error
        }
        capturer.stop()
        _ = try await outcome
    }

    /// Returns curl's output for a path.
    @discardableResult
    func curl(_ arguments: [String], _ path: String) async throws -> String {
        let output = try await ReferenceCommand.runAside("curl", ["-s", "-m", "20"] + arguments + [address + path])
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns the status of a request.
    func status(_ path: String, _ arguments: [String]) async throws -> Int {
        Int(try await curl(["-o", "/dev/null", "-w", "%{http_code}"] + arguments, path)) ?? 0
    }

    /// Returns the output of a program of Tests/Peers.
    static func peer<Seen: Decodable>(
        _ script: String, python: String, _ arguments: [String], as type: Seen.Type = Seen.self
    ) async throws -> Seen {
        let output = try await ReferenceCommand.runAside(python, ["-B", PeerProcess.path(script)] + arguments)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Seen.self, from: output)
    }

    /// Python with aiortc, which Debian doesn't package.
    static let aiortcPython = PeerProcess.python
    static let hasAiortc =
        (try? ReferenceCommand.run(aiortcPython, ["-c", "import aiortc, aiohttp, numpy"])) != nil
    static let hasBrowser = (try? ReferenceCommand.run("chromedriver", ["--version"])) != nil
}
#endif

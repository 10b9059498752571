import Foundation
import InletCapture
import InletCore
import PatternSource
import PreviewSink
import ReferenceTools

/// A capture with a preview, which other programs request.
struct PreviewRun {
    let port: Int
    let capturer: Capturer

    var address: String { "http://127.0.0.1:\(port)" }

    /// Runs a capture while `body` requests pages.
    ///
    /// - Parameter other: another sink, whose queue drops no frame unless the sink is slow for two seconds.
    /// - Returns: the figures at the end.
    @discardableResult
    static func with(
        size: ImageSize = ImageSize(width: 320, height: 180), token: String? = nil, clients: Int = 64,
        patience: Duration = .seconds(5),
        beside other: (any FrameSinkConfiguration)? = nil, _ body: (PreviewRun) async throws -> Void
    ) async throws -> CaptureStatistics {
        let port = try FreePort.find()
        var preview = PreviewSinkConfiguration(port: port, token: token)
        (preview.clients, preview.patience) = (clients, patience)
        var pattern = PatternConfiguration(.timecode, size: size, frameRate: Rational(30))
        // Enough for the waiting pictures, and some to draw into.
        pattern.buffers = 128
        let capturer = Capturer(pattern)
        capturer.attach(preview)
        if let other { capturer.attach(other, queue: .buffered(60, dropping: .newest)) }
        let run = PreviewRun(port: port, capturer: capturer)
        async let outcome = capturer.run()
        do {
            // Ends with code 0 for any answer.
            try await ReferenceCommand.runAside(
                "curl",
                ["-s", "-o", "/dev/null", "--retry", "60", "--retry-connrefused", "--retry-delay", "1", run.address])
            try await body(run)
        } catch {
            capturer.stop()
            _ = try? await outcome
            throw error
        }
        capturer.stop()
        _ = try await outcome
        return capturer.statistics
    }

    /// Requests a page.
    ///
    /// - Returns: the status, the type and the body; the status 0 if the connection was closed without an answer.
    func get(_ path: String, _ arguments: [String] = []) async throws -> (status: Int, type: String, body: Data) {
        let folder = try TemporaryFolder()
        let body = folder.path("body")
        let script = "curl -s -m 20 -o \(body) -w '%{http_code} %{content_type}' \"$@\" || true"
        let output = try await ReferenceCommand.runAside("bash", ["-c", script, "curl", address + path] + arguments)
        let words = String(decoding: output, as: UTF8.self).split(separator: " ", maxSplits: 1)
        let data = try? Data(contentsOf: URL(fileURLWithPath: body))
        return (words.first.flatMap { Int($0) } ?? 0, words.count > 1 ? String(words[1]) : "", data ?? Data())
    }

    func text(_ path: String) async throws -> String { String(decoding: try await get(path).body, as: UTF8.self) }
}

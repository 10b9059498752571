import Foundation
import InletCapture
import InletCore
import InletTesting
import Logging
import PatternSource
import ReferenceTools
import Testing

@testable import PreviewSink

/// The preview as curl, ffmpeg and Chromium see it.
@Suite(.tags(.process), .serialized) struct PreviewSinkTests {
    @Test("The preview keeps the contract of sinks")
    func conformance() async throws {
        var conformance = SinkConformance()
        // An address reserved for documentation (RFC 5737), which no machine has.
        conformance.unusable = PreviewSinkConfiguration(host: "192.0.2.1", port: 0, token: "let-me-in")
        let violations = await conformance.check { PreviewSinkConfiguration(port: 0) }
        #expect(violations == [])
    }

    @Test("Each page has its type, and no other page exists")
    func pages() async throws {
        try await PreviewRun.with { run in
            for (path, status, type) in [
                ("/", 200, "text/html"), ("/?x=1", 200, "text/html"), ("/healthz", 200, "text/plain"),
                ("/stats.json", 200, "application/json"), ("/metrics", 200, "text/plain; version=0.0.4"),
                ("/snapshot.jpg", 200, "image/jpeg"), ("/no/such", 404, "text/plain"),
                ("/../etc/passwd", 404, "text/plain"),
            ] {
                let answer = try await run.get(path, ["--path-as-is"])
                #expect(
                    answer.status == status && answer.type.hasPrefix(type), "\(path): \(answer.status) \(answer.type)")
            }
            #expect(try await run.get("/", ["-I"]).status == 200)
            #expect(try await run.text("/healthz") == "live\n")
        }
    }

    @Test("Malformed requests are refused, and oversized ones are not read")
    func requests() async throws {
        try await PreviewRun.with { run in
            #expect(try await run.get("/", ["-X", "DELETE"]).status == 405)
            #expect(try await run.get("/", ["-d", "a=b"]).status == 413)
            #expect(try await run.get("/", ["-T", "/dev/zero", "--max-time", "10"]).status == 413)
            let long = String(repeating: "a", count: 20_000)
            for arguments in [["-H", "X-Long: \(long)"], ["-G", "--data-urlencode", "a=\(long)"]] {
                let status = try await run.get("/", arguments).status
                #expect(status == 0 || status == 400 || status == 431, "\(status)")
            }
            // With a name that resolves to this machine but is not its own, like a foreign page's request.
            #expect(try await run.get("/stats.json", ["-H", "Host: example.org"]).status == 421)
            // A name, although it begins like an address of this machine.
            #expect(try await run.get("/stats.json", ["-H", "Host: 127.0.0.1.example.org"]).status == 421)
            #expect(try await run.get("/stats.json", ["-H", "Host: localhost:1"]).status == 200)
            #expect(try await run.get("/").status == 200)
        }
    }

    @Test("With a token, only clients that present it get an answer")
    func token() async throws {
        try await PreviewRun.with(token: "let-me-in-please") { run in
            for path in [
                "/", "/stream.mjpg", "/snapshot.jpg", "/stats.json", "/metrics", "/healthz", "/?token=let-me-in-pleasf",
            ] {
                #expect(try await run.get(path).status == 401, "\(path)")
            }
            #expect(try await run.get("/stats.json?token=let-me-in-please").status == 200)
            #expect(try await run.get("/stats.json", ["-H", "Authorization: Bearer let-me-in-please"]).status == 200)
            #expect(try await run.get("/stats.json", ["-H", "Authorization: Bearer let-me"]).status == 401)
            // The page's own requests use the cookie, which does not contain the token.
            let head = String(decoding: try await run.get("/?token=let-me-in-please", ["-I"]).body, as: UTF8.self)
            let lines = head.split(separator: "\r\n").map(String.init)
            let cookie = try #require(lines.first { $0.hasPrefix("set-cookie: ") }?.dropFirst("set-cookie: ".count))
            #expect(cookie.hasPrefix("inlet-session-\(run.port)=") && !cookie.contains("let-me-in"))
            #expect(cookie.hasSuffix("; Max-Age=86400; Path=/; HttpOnly; SameSite=Strict"))
            let pair = String(cookie.prefix { $0 != ";" })
            #expect(try await run.get("/stats.json", ["-b", "a=b; \(pair)"]).status == 200)
            #expect(try await run.get("/stats.json", ["-b", "a=b; \(pair.dropLast())"]).status == 401)
            #expect(
                try await run.get("/stats.json", ["-b", "inlet-session-\(run.port)=let-me-in-please"]).status == 401)
            let proxied = try await run.get(
                "/?token=let-me-in-please", ["-I", "-H", "X-Forwarded-Proto: https"])
            #expect(String(decoding: proxied.body, as: UTF8.self).contains("; Secure\r\n"))
            // No other site may embed a picture or a page of this one.
            #expect(lines.contains("cross-origin-resource-policy: same-origin"))
            #expect(lines.contains { $0.hasPrefix("content-security-policy: default-src 'none'") })
        }
    }

    @Test("If other machines can reach the server and no token is set, one is generated and logged with the address")
    func generatedToken() async throws {
        let lines = LogLines()
        let logger = Logger(label: "test") { _ in lines }
        var configuration = PreviewSinkConfiguration(host: "0.0.0.0", port: 0)
        try configuration.validate()
        let sink = PreviewSink(configuration, logger: logger)
        try sink.start(VideoFormat(size: ImageSize(width: 16, height: 16), timeBase: Rational(1, 25)), SinkContext())
        let line = try #require(lines.all.first)
        let page = try #require(line.split(separator: " ").first { $0.hasPrefix("http://") })
        #expect(page.contains("/?token=") && !page.contains("0.0.0.0"))
        func status(_ address: some StringProtocol) async throws -> String {
            let arguments = ["-s", "-o", "/dev/null", "-w", "%{http_code}", String(address)]
            return String(decoding: try await ReferenceCommand.runAside("curl", arguments), as: UTF8.self)
        }
        #expect(try await status(page) == "200")
        #expect(try await status(page.prefix { $0 != "?" }) == "401")
        try sink.finish()
        // A configured token is not logged.
        configuration.token = "let-me-in-please"
        let other = PreviewSink(configuration, logger: logger)
        try other.start(VideoFormat(size: ImageSize(width: 16, height: 16), timeBase: Rational(1, 25)), SinkContext())
        try other.finish()
        #expect(lines.all.count == 2 && !lines.all.contains { $0.contains("let-me-in") })
    }

    @Test("The statistics are those of the capture, as JSON and for Prometheus")
    func figures() async throws {
        struct Stats: Decodable {
            struct Sink: Decodable {
                var name: String
                var delivered: Int
            }
            var source: String
            var state: String
            var captured: Int
            var openings: Int
            var sinks: [Sink]
        }
        try await PreviewRun.with { run in
            let before = try await JSONDecoder().decode(Stats.self, from: run.get("/stats.json").body)
            #expect(before.source == run.capturer.sourceName)
            #expect(before.state == "live" && before.openings == 1)
            #expect(before.sinks.map(\.name) == ["preview:127.0.0.1:\(run.port)"])
            _ = try await run.get("/snapshot.jpg")
            let after = try await JSONDecoder().decode(Stats.self, from: run.get("/stats.json").body)
            #expect(after.captured > before.captured && after.sinks[0].delivered > 0)

            let lines = try await run.text("/metrics").split(separator: "\n")
            #expect(
                lines.allSatisfy {
                    $0.wholeMatch(of: /# (HELP|TYPE) inlet_\w+ .+|inlet_\w+\{(\w+="[^"]*",?)+\} [-+.e\d]+/) != nil
                })
            let captured = try #require(
                lines.last { $0.hasPrefix("inlet_frames_captured_total{") }?.split(separator: " ").last)
            #expect(Int(captured).map { $0 >= after.captured } == true)
            #expect(lines.contains { $0.hasPrefix("inlet_capturer_state{") && $0.contains("state=\"live\"") })
            #expect(
                lines.contains {
                    $0.hasPrefix("inlet_sink_delivery_latency_seconds{") && $0.contains("quantile=\"0.99\"")
                })
        }
    }

    @Test("ffmpeg reads the still and the stream, and the pictures' numbers increase")
    func pictures() async throws {
        let size = ImageSize(width: 320, height: 180)
        try await PreviewRun.with(size: size) { run in
            let folder = try TemporaryFolder()
            try await run.get("/snapshot.jpg").body.write(to: URL(fileURLWithPath: folder.path("a.jpg")))
            let yuv = ["-pix_fmt", "yuvj420p", "-f", "rawvideo", "-"]
            let still = try await ReferencePictures(
                ReferenceCommand.runAside("ffmpeg", ["-loglevel", "error", "-i", folder.path("a.jpg")] + yuv),
                size: size)
            let number = try #require(TimecodeReader.read(still.packed(0))).frame
            let stream = try await ReferencePictures(
                ReferenceCommand.runAside(
                    "ffmpeg",
                    ["-loglevel", "error", "-f", "mpjpeg", "-i", run.address + "/stream.mjpg", "-frames:v", "6"] + yuv),
                size: size)
            let numbers = try (0..<stream.count).compactMap { try TimecodeReader.read(stream.packed($0))?.frame }
            #expect(numbers.count == 6)
            #expect(zip([number] + numbers, numbers).allSatisfy { $0 < $1 }, "\(number) \(numbers)")
        }
    }

    @Test("Pictures are requested only while a client watches, and a stalled source is reported")
    func watching() async throws {
        var configuration = PreviewSinkConfiguration(port: try FreePort.find())
        configuration.patience = .milliseconds(300)
        let server = try PreviewServer(configuration, context: SinkContext(), logger: Logger(label: "test"))
        defer { server.stop() }
        #expect(!server.isWatched)
        let address = "http://\(server.address)"
        // No source publishes: there is no still in time, and afterwards no request waits for it.
        let status = try await ReferenceCommand.runAside(
            "curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", address + "/snapshot.jpg"])
        #expect(String(decoding: status, as: UTF8.self) == "503")
        #expect(!server.isWatched)

        let watcher = Process()
        watcher.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        watcher.arguments = ["curl", "-s", "-o", "/dev/null", address + "/stream.mjpg"]
        try watcher.run()
        #expect(await becomes { server.isWatched })
        // A thread of a test may have blocked SIGTERM, which children inherit.
        kill(watcher.processIdentifier, SIGKILL)
        #expect(await becomes { !server.isWatched })
        let health = try await ReferenceCommand.runAside(
            "curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", address + "/healthz"])
        #expect(String(decoding: health, as: UTF8.self) == "503")
    }

    /// Waits for at most half a minute.
    private func becomes(_ condition: () -> Bool) async -> Bool {
        let end = ContinuousClock.now + .seconds(30)
        while !condition(), ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(10)) }
        return condition()
    }

    @Test("A used port, and an address that other machines can reach without a token, are refused")
    func refusals() async throws {
        var registry = PluginRegistry()
        registry.register(.preview)
        for uri in [
            "preview:0.0.0.0?token=short", "preview:localhost:99999",
            "preview:::1", "preview:a/b", "preview:?token=with space.", "preview:?clients=0", "preview:?max-fps=0",
        ] {
            let error = #expect(throws: InletError.self) { try registry.sink(uri) }
            #expect(error?.code == .invalidConfiguration, "\(uri)")
            #expect(error?.description.contains("short") != true)
        }
        for (uri, name) in [
            ("preview:", "preview:127.0.0.1:8090"), ("preview:9000", "preview:127.0.0.1:9000"),
            ("preview::9000", "preview:127.0.0.1:9000"),
            ("preview:[::1]:9000", "preview:[::1]:9000"), ("preview:0.0.0.0:80?token=let-me-in", "preview:0.0.0.0:80"),
            ("preview:0.0.0.0:8090", "preview:0.0.0.0:8090"), ("preview:[::]:8090", "preview:[::]:8090"),
        ] {
            #expect(try registry.sink(uri).redactedURI == name)
        }
        try await PreviewRun.with { run in
            let sink = PreviewSinkConfiguration(port: run.port).makeSink()
            let error = #expect(throws: InletError.self) {
                try sink.start(
                    VideoFormat(size: ImageSize(width: 16, height: 16), timeBase: Rational(1, 25)), SinkContext())
            }
            #expect(error?.code == .busy)
            #expect(error?.message.contains("\(run.port)") == true)
        }
    }
}

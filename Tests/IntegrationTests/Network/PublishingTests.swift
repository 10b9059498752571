import Foundation
import Inlet
import Logging
import ReferenceTools
import Testing

/// Streams to real servers that go away.
@Suite(
    .tags(.chromium, .server), .fewAtATime,
    .enabled(if: StreamReceiver.missing == nil, "\(StreamReceiver.missing ?? "")"))
struct PublishingTests {
    private func capturer(_ sink: String) throws -> Capturer {
        var configuration = CapturerConfiguration()
        configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let source = try PluginRegistry.standard.source("pattern:ball?size=320x240&fps=30")
        let capturer = Capturer(source, configuration: configuration)
        var delay = RestartDelay()
        delay.first = .milliseconds(50)
        delay.longest = .milliseconds(200)
        try capturer.attach(
            PluginRegistry.standard.sink(sink), queue: .latest, onFailure: .restart(after: delay))
        capturer.attach(NullSinkConfiguration())
        return capturer
    }

    private static let servers: [(StreamReceiver.Kind, String)] = [
        (.ffmpeg(.rtmp), ""), (.ffmpeg(.srt), "?connect-timeout=3s"), (.ffmpeg(.rtsp), ""), (.gstreamer(), ""),
    ]

    @Test(
        "A stream arrives again after each of ten kills of its server, and the source is not interrupted",
        arguments: servers)
    func killedServers(_ kind: StreamReceiver.Kind, _ options: String) async throws {
        let server = try StreamReceiver(kind)
        let capturer = try capturer(server.url + options + (options.isEmpty ? "?" : "&") + "gop=300ms&write-timeout=2s")
        let running = Task { try await capturer.run() }
        func refused() -> UInt64 { capturer.statistics.sinks[0].drops[.sinkFailed] ?? 0 }
        func progress() throws -> [Int] { [try server.frames(), Int(refused())] }
        // On a busy machine, Inlet may drop a connection that ffmpeg has just accepted, and ffmpeg ends with the
        // connection.
        func shows(_ count: Int, after before: Int) throws -> Bool {
            if try !server.isRunning() { try server.startAgain() }
            return try server.frames() > before + count
        }
        do {
            for _ in 0..<10 {
                let before = try server.frames()
                try await Waiting.until("pictures", progress: progress) { try shows(5, after: before) }
                let failures = refused()
                try server.kill()
                // A loss is noticed at once, except with SRT: its peer counts as lost after a time-out without an
                // answer.
                try await Waiting.until("the loss is noticed", progress: refused) {
                    refused() > failures
                }
                try server.startAgain()
            }
            let before = try server.frames()
            try await Waiting.until("pictures after the last restart", progress: progress) {
                try shows(15, after: before)
            }
        } catch {
            capturer.stop()
            _ = try? await running.value
            throw error
        }
        capturer.stop()
        _ = try await running.value
        let statistics = capturer.statistics
        #expect(statistics.supervision.failures.isEmpty)
        // The other sink received what the source made, except what it lost to the machine's load.
        let other = try #require(statistics.sinks.last)
        #expect(other.drops[.sinkFailed] == nil && other.delivered > 60)
    }

    @Test("A hanging SRT receiver is dropped within the time-out, and gets the stream again when it continues")
    func hangingReceiver() async throws {
        let folder = try TemporaryFolder()
        let port = try FreePort.find()
        let receiver = try SRTTransmitter(
            "srt://127.0.0.1:\(port)?mode=listener", to: folder.path("received.ts"), goesOn: true)
        let capturer = try capturer("srt://127.0.0.1:\(port)?connect-timeout=1s&write-timeout=500ms&gop=300ms")
        let running = Task { try await capturer.run() }
        func refused() -> UInt64 { capturer.statistics.sinks[0].drops[.sinkFailed] ?? 0 }
        func progress() -> [Int] { [receiver.byteCount, Int(refused())] }
        do {
            for _ in 0..<3 {
                let before = receiver.byteCount
                try await Waiting.until("the stream", progress: progress) { receiver.byteCount > before + 100_000 }
                let failures = refused()
                receiver.suspend()
                try await Waiting.until("the silence is noticed", progress: progress) { refused() > failures }
                receiver.resume()
            }
            let before = receiver.byteCount
            try await Waiting.until("the stream at last", progress: progress) { receiver.byteCount > before + 100_000 }
        } catch {
            capturer.stop()
            _ = try? await running.value
            throw error
        }
        capturer.stop()
        _ = try await running.value
        #expect(capturer.statistics.supervision.failures.isEmpty)
    }

    @Test("An SRT receiver that delays the end for longer than a write may take is reported")
    func lostEnd() async throws {
        let folder = try TemporaryFolder()
        let port = try FreePort.find()
        let receiver = try SRTTransmitter("srt://127.0.0.1:\(port)?mode=listener", to: folder.path("received.ts"))
        defer { receiver.stop() }
        try await receiver.listens(at: port)
        let address = "srt://127.0.0.1:\(port)?latency=4000000&connect-timeout=30s&write-timeout=500ms"
        let inlet = try InletProcess.run(["run", "pattern:ball?size=64x48", "--frames", "3", "--to", address])
        #expect(inlet.status == 0 && inlet.complaints.contains("holds it back for 4s"), "\(inlet.complaints)")
    }

    @Test("libsrt's messages go to the log, and none to standard error")
    func logOfSRT() async throws {
        let folder = try TemporaryFolder()
        let port = try FreePort.find()
        let address = "srt://127.0.0.1:\(port)?mode=listener&passphrase=open-sesame"
        let receiver = try SRTTransmitter(address, to: folder.path("received.ts"))
        defer { receiver.stop() }
        let inlet = try InletProcess.run([
            "run", "pattern:ball?size=64x48", "--to", "srt://127.0.0.1:\(port)?passphrase=geheimgeheim",
        ])
        #expect(inlet.status == 77, "\(inlet.complaints)")
        #expect(inlet.complaints.contains("has a different passphrase"))
        // The receiver, which has no log, reports it.
        #expect(receiver.log.contains("SRT.") && !inlet.complaints.contains("SRT."), "\(inlet.complaints)")
        #expect(!inlet.complaints.contains("geheim"))
    }

    private func played(_ server: NginxServer) throws -> Int {
        try server.requests().filter { $0.contains(".ts ") && ($0.hasSuffix(" 200") || $0.hasSuffix(" 206")) }.count
    }

    @Test(
        """
        A browser plays HLS from nginx, and continues after each of ten kills of nginx: between segments without help, \
        at any moment if its page restarts the player, as pages do, when it gives up on a truncated segment
        """,
        .enabled(if: NginxServer.missing == nil, "\(NginxServer.missing ?? "")"),
        .enabled(if: HLSBrowser.missing == nil, "\(HLSBrowser.missing ?? "")"), arguments: [true, false])
    func hlsInBrowser(betweenSegments: Bool) async throws {
        let folder = try TemporaryFolder()
        let live = folder.path("live")
        let capturer = try capturer("hls:\(live)?segment=1s&gop=1s")
        let running = Task { try await capturer.run() }
        do {
            // Like a player that begins three segments before the end.
            func segments() -> Int {
                (try? String(contentsOfFile: live + "/index.m3u8", encoding: .utf8))?
                    .components(separatedBy: ".ts").count ?? 0
            }
            try await Waiting.until("segments", progress: segments) { segments() > 3 }
            let server = try NginxServer.folder(live)
            let browser = try HLSBrowser(playlist: server.playlist)
            var seen = try browser.look()
            for round in 0...10 {
                let (last, before) = (seen, try played(server))
                func progress() throws -> Int { try played(server) }
                try await Waiting.until("more segment requests", progress: progress) { try played(server) > before }
                try await Waiting.until("the picture changes, \(last)", progress: progress) {
                    seen = try browser.look()
                    return seen.seconds != last.seconds && seen.pixels != last.pixels && seen.width == 320
                }
                if round == 10 { break }
                // Chromium's own player gives up on a segment that is cut off or refused, from any server; on a
                // playlist it does not.
                if betweenSegments { try server.restartBetweenSegments() } else { try server.restart() }
            }
            if betweenSegments { #expect(seen.trouble.isEmpty && seen.reloads == 0, "\(seen)") }
        } catch {
            capturer.stop()
            _ = try? await running.value
            throw error
        }
        capturer.stop()
        _ = try await running.value
        #expect(capturer.statistics.sinks[0].drops[.sinkFailed] == nil)
    }
}

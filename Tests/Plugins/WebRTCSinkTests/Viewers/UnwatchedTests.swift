#if GStreamer
import FFmpegSink
import Foundation
import InletCapture
import InletCore
import InletRTC
import InletTesting
import PatternSource
import ReferenceTools
import Testing

@testable import WebRTCSink

/// Captures without a viewer, and unreachable servers.
@Suite(.tags(.rtcPeer), .serialized) struct UnwatchedTests {
    @Test(
        "Nothing is converted without viewers; a new viewer gets pictures, and they stop when it has left",
        .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
    func viewers() async throws {
        try await ViewerRun.with { run in
            for _ in 0..<6000 where run.capturer.statistics.captured < 60 {
                try await Task.sleep(for: .milliseconds(10))
            }
            let before = run.capturer.statistics
            #expect(before.captured >= 60)
            #expect(before.converted == 0)
            #expect(before.delivered == 0)
            #expect(before.drops[.notConnected] ?? 0 > 0)
            #expect(before.sinks.first?.sessions?.open == 0)
            #expect(before.sinks.first?.sessions?.opened == 0)
            let seen: ViewerPeerTests.Seen = try await ViewerRun.peer(
                "whep-viewer.py", python: ViewerRun.aiortcPython, [run.address + "/whep", "--frames", "30"])
            #expect(seen.error == nil)
            #expect(seen.count == 30)
            #expect(seen.unread == 0)
            for _ in 0..<3000 where run.capturer.statistics.sinks.first?.sessions?.open != 0 {
                try await Task.sleep(for: .milliseconds(10))
            }
            // Encoders close with the next picture, and another one may be on its way.
            let gone = run.capturer.statistics
            #expect(gone.sinks.first?.sessions?.opened == 1)
            for _ in 0..<3000 where run.capturer.statistics.captured < gone.captured + 30 {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(run.capturer.statistics.converted <= gone.converted + 3)
        }
    }

    @Test("After an outage longer than a track's patience, a camera on demand is opened by the next viewer")
    func outage() async throws {
        let scripts = [
            [ScriptedSource.Step].frames(2) + [.interrupt("the cable is out"), .hang],
            [ScriptedSource.Step].frames(1200).flatMap { [$0, .sleep(.milliseconds(50))] },
        ]
        let source = ScriptedSourceConfiguration(
            scripts.map { ScriptedSource.Script(format: ScriptedSource.format(pacing: .live), $0) })
        try await ViewerRun.with(source: source) {
            $0.patience = .milliseconds(1)
        } capture: {
            $0.closesUnwatchedAfter = .seconds(10)
        } _: { run in
            let offer = ["-H", "content-type: application/sdp", "--data-binary", ThrowawayOffer.sdp]
            for _ in 0..<1000 where run.broadcast.state.isPublished {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(!run.broadcast.state.isPublished)
            for _ in 0..<6000 where run.capturer.state != .unwatched || !run.broadcast.state.isPublished {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(try await run.status("/whep", offer) == 201)
            for _ in 0..<3000 where run.capturer.statistics.supervision.openings < 2 {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(run.capturer.statistics.supervision.openings == 2)
        }
    }

    @Test(
        "A camera on demand is closed without viewers; the next viewer gets its pictures in order",
        .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
    func onDemand() async throws {
        try await ViewerRun.with(capture: { $0.closesUnwatchedAfter = .milliseconds(500) }) { run in
            for openings in 1...2 as ClosedRange<UInt64> {
                for _ in 0..<6000 where run.capturer.statistics.phase != .unwatched {
                    try await Task.sleep(for: .milliseconds(10))
                }
                let closed = run.capturer.statistics
                #expect(closed.phase == .unwatched)
                #expect(closed.supervision.openings == openings)
                try await Task.sleep(for: .seconds(1))
                #expect(run.capturer.statistics.captured == closed.captured)
                let seen: ViewerPeerTests.Seen = try await ViewerRun.peer(
                    "whep-viewer.py", python: ViewerRun.aiortcPython, [run.address + "/whep", "--frames", "30"])
                #expect(seen.error == nil)
                #expect(seen.count == 30)
                #expect(seen.unread == 0)
            }
            #expect(run.capturer.statistics.supervision.failures.isEmpty)
        }
    }

    private struct Report: Decodable {
        struct Frames: Decodable {
            var captured, converted, delivered: Int
            var dropped: [String: Int]
        }
        struct Sessions: Decodable {
            var open, opened: Int
            var failure: String?
        }
        struct Failure: Decodable { var code, message: String }
        var frames: Frames
        var sessions: [String: Sessions]?
        var error: Failure?
    }

    /// Runs `inlet run` for some frames of a pattern.
    private static func run(_ sink: String, frames: Int) throws -> (status: Int32, Report) {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
        process.arguments = [
            "60", BuiltProgram.inlet, "run", "pattern:timecode?size=320x240&fps=30", "--frames", "\(frames)",
            "--to", sink, "--report", "json",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = pipe
        try process.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        // Log lines precede the report.
        let line = try #require(text.split(separator: "\n").last { $0.hasPrefix("{") }, "\(text)")
        let report = try JSONDecoder().decode(Report.self, from: Data(line.utf8))
        return (process.terminationStatus, report)
    }

    @Test("Without a server every frame is counted as not connected, and the run fails with a clear error")
    func deadServer() async throws {
        let port = try FreePort.find()
        let (status, report) = try await aside { try Self.run("whip+http://127.0.0.1:\(port)/whip", frames: 15) }
        #expect(status == 75)
        #expect(report.frames.captured == 15)
        #expect(report.frames.converted == 0)
        #expect(report.frames.delivered == 0)
        // On a busy machine the pattern itself skips frames.
        let dropped = report.frames.dropped.filter { $0.key != "lostBySource" }
        #expect(dropped.values.reduce(0, +) == 15)
        #expect(report.frames.dropped["notConnected"] ?? 0 > 0)
        // On a busy machine the run ends before the offer is sent.
        #expect(["connectionRefused", "timedOut"].contains(report.error?.code))
        #expect(report.error?.message.contains("No session with the server was established.") == true)
        let sessions = try #require(report.sessions?["whip+http://127.0.0.1:\(port)/whip"])
        #expect(sessions.opened == 0)
        #expect(sessions.open == 0)
        #expect((sessions.failure == nil) == (report.error?.code == "timedOut"))
    }

    @Test("A page without visitors is no failure")
    func unopenedPage() async throws {
        let port = try FreePort.find()
        let (status, report) = try await aside { try Self.run("webrtc:127.0.0.1:\(port)", frames: 30) }
        #expect(status == 0)
        #expect(report.frames.converted == 0)
        #expect(report.frames.dropped["notConnected"] ?? 0 > 0)
        #expect(report.sessions?.values.map(\.opened) == [0])
    }

    @Test("A first session that is not up in time fails the sink, which is restarted if so configured")
    func connectTimeout() async throws {
        let port = try FreePort.find()
        var sink = WHIPSinkConfiguration("http://127.0.0.1:\(port)/whip") { FFmpegVideoEncoder() }
        sink.connectTimeout = .milliseconds(300)
        var configuration = CapturerConfiguration()
        configuration.endsWithoutSinks = true
        let capturer = Capturer(
            PatternConfiguration(.timecode, size: ImageSize(width: 320, height: 240), frameRate: Rational(30)),
            configuration: configuration)
        var delay = RestartDelay()
        (delay.first, delay.attempts) = (.milliseconds(10), 1)
        capturer.attach(sink, onFailure: .restart(after: delay))
        let events = capturer.events
        _ = try await capturer.run()
        var seen: [String] = []
        for await event in events {
            switch event {
            case .sinkRestarting(_, _, let error, _, _): seen.append("restarting: \(error.code)")
            case .sinkEnded(_, _, let error): seen.append("ended: \(error?.code.description ?? "well")")
            default: break
            }
        }
        #expect(seen == ["restarting: connectionRefused", "ended: connectionRefused"])
    }
}
#endif

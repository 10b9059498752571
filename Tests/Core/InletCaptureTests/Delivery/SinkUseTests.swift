import Foundation
import InletCore
import InletTesting
import ReferenceTools
import Synchronization
import Testing

@testable import InletCapture

/// Sinks that need no pictures for a time, because they have no viewers.
@Suite(.timeLimit(.minutes(10))) struct SinkUseTests {
    /// A record of the calls to a sink, and whether it needs pictures.
    private final class Audience: Sendable {
        let isPresent = Atomic(false)
        let starts = Mutex([VideoFormat]())
        let taken = Atomic(0)
        let finishes = Atomic(0)
        let context = Mutex(SinkContext?.none)
    }

    private final class AudienceSink: FrameSink {
        private let audience: Audience
        var wants: SinkWants { SinkWants(largestSize: ImageSize(width: 32, height: 32), rotation: .applied) }
        var takesFrames: Bool { audience.isPresent.load(ordering: .relaxed) }

        init(_ audience: Audience) { self.audience = audience }

        func start(_ format: VideoFormat, _ context: SinkContext) throws {
            audience.starts.withLock { $0.append(format) }
            audience.context.withLock { $0 = context }
        }

        func consume(_ frame: VideoFrame) throws { audience.taken.add(1, ordering: .relaxed) }
        func finish() throws { audience.finishes.add(1, ordering: .relaxed) }
    }

    private static func source(_ count: Int) -> ScriptedSourceConfiguration {
        ScriptedSourceConfiguration(.init(format: ScriptedSource.format(pacing: .unpaced), .frames(count)))
    }

    @Test(
        "Nothing is converted for a sink without viewers; it is started all the same, and each frame is counted",
        arguments: [QueuePolicy.lossless(3), .buffered(1000, dropping: .newest)])
    func unwatched(_ queue: QueuePolicy) async throws {
        let (audience, seen, watched) = (Audience(), Audience(), Audience())
        watched.isPresent.store(true, ordering: .relaxed)
        let capturer = Capturer(Self.source(40))
        let id = capturer.attach(AudienceSink(audience), queue: queue)
        try await capturer.run()
        let statistics = capturer.statistics
        #expect(statistics.converted == 0)
        let sink = try #require(statistics.sinks.first { $0.id == id })
        #expect(sink.delivered == 0)
        #expect(sink.drops == [.notConnected: 40])
        #expect(sink.conversionTime.count == 0)
        #expect(audience.finishes.load(ordering: .relaxed) == 1)

        // The reported format is the same as with a picture.
        let other = Capturer(Self.source(1))
        other.attach(AudienceSink(seen))
        other.attach(AudienceSink(watched))
        try await other.run()
        #expect(audience.starts.withLock { $0 } == watched.starts.withLock { $0 })
        #expect(seen.starts.withLock { $0 } == watched.starts.withLock { $0 })
        #expect(watched.taken.load(ordering: .relaxed) == 1)
    }

    @Test("Once a viewer is there, the next frame is converted and taken, and none after the last viewer has left")
    func joining() async throws {
        let audience = Audience()
        let gate = Gate()
        let capturer = Capturer(
            ScriptedSourceConfiguration(
                .init(
                    format: ScriptedSource.format(pacing: .unpaced),
                    .frames(10) + [.perform { _ in gate.pass() }] + .frames(10))))
        capturer.attach(AudienceSink(audience), queue: .lossless(3))
        async let reason = capturer.run()
        await Waiting.until { capturer.statistics.drops[.notConnected] == 10 }
        audience.isPresent.store(true, ordering: .relaxed)
        gate.open()
        _ = try await reason
        let statistics = capturer.statistics
        #expect(statistics.converted == 10)
        #expect(statistics.delivered == 10)
        #expect(statistics.drops == [.notConnected: 10])
        #expect(audience.starts.withLock { $0 }.count == 1)
    }

    @Test("The sessions that a sink reports appear in the statistics, and a sink without sessions has none there")
    func sessions() async throws {
        let (audience, plain) = (Audience(), RecordingSink())
        let capturer = Capturer(Self.source(1))
        let (id, other) = (capturer.attach(AudienceSink(audience)), capturer.attach(plain))
        try await capturer.run()
        var sessions = SinkSessions()
        (sessions.open, sessions.opened, sessions.failure) = (2, 5, "The server is gone.")
        audience.context.withLock { $0 }?.report(sessions)
        let sinks = capturer.statistics.sinks
        #expect(sinks.first { $0.id == id }?.sessions == sessions)
        #expect(sinks.first { $0.id == other }?.sessions == nil)
    }

    @Test(
        "A live source is closed without viewers, opened for the next one, and its times and numbers continue")
    func onDemand() async throws {
        let (audience, clock) = (Audience(), ManualClock(waiting: .movesTime))
        var configuration = CapturerConfiguration()
        configuration.closesUnwatchedAfter = .milliseconds(500)
        let format = ScriptedSource.format(pacing: .live)
        // Each frame takes a millisecond of the clock's time, and somewhat less of the machine's, so that the source
        // outlasts the test.
        let steps = (0..<100_000).flatMap { _ -> [ScriptedSource.Step] in
            [.sleep(.milliseconds(1)), .perform { _ in Thread.sleep(forTimeInterval: 0.0002) }] + .frames(1)
        }
        let source = ScriptedSourceConfiguration([.init(format: format, steps), .init(format: format, steps)])
        let capturer = Capturer(source, configuration: configuration, clock: clock)
        let id = capturer.attach(AudienceSink(audience))
        async let reason = capturer.run()
        func report(_ open: Int, _ pending: Int) {
            var sessions = SinkSessions()
            (sessions.open, sessions.pending) = (open, pending)
            audience.context.withLock { $0 }?.report(sessions)
        }
        func waits(for phase: CapturePhase) async {
            await Waiting.until { capturer.statistics.phase == phase }
        }
        await Waiting.until { audience.context.withLock({ $0 }) != nil }
        report(1, 0)
        report(0, 0)
        await waits(for: .unwatched)
        let before = capturer.statistics
        #expect(before.supervision.openings == 1)
        // A viewer that is still connecting already opens the source.
        report(0, 1)
        await waits(for: .live)
        audience.isPresent.store(true, ordering: .relaxed)
        await Waiting.until { audience.taken.load(ordering: .relaxed) >= 5 }
        let after = capturer.statistics
        #expect(after.supervision.openings == 2)
        #expect(after.supervision.failures.isEmpty && after.supervision.recoveries == 0)
        #expect(after.captured > before.captured)
        // Another sink, without sessions, always needs pictures.
        capturer.attach(RecordingSink())
        report(0, 0)
        await Waiting.until { capturer.statistics.captured >= after.captured + 1_000 }
        #expect(capturer.statistics.supervision.openings == 2)
        capturer.stop()
        _ = try await reason
        #expect(capturer.statistics.sinks.contains { $0.id == id })
    }
}

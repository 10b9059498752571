import InletCapture
import InletCore
import InletTesting
import ReferenceTools
import Synchronization
import Testing

/// The source conditions reported to sinks, and sinks that change their requirements.
@Suite(.timeLimit(.minutes(2))) struct SinkConditionTests {
    final class Record: Sendable {
        let state = Mutex((conditions: [SourceCondition](), sizes: [ImageSize](), sequences: [UInt64]()))
        var conditions: [SourceCondition] { state.withLock { $0.conditions } }
    }

    /// Requests half the size from its third frame on.
    final class Changing: FrameSink {
        let record: Record
        private var count = 0

        init(_ record: Record) { self.record = record }

        var wants: SinkWants { SinkWants(largestSize: count < 2 ? nil : ImageSize(width: 32, height: 24)) }

        func consume(_ frame: VideoFrame) {
            count += 1
            record.state.withLock {
                $0.sizes.append(frame.size)
                $0.sequences.append(frame.sequence)
            }
        }

        func sourceChanged(to condition: SourceCondition) { record.state.withLock { $0.conditions.append(condition) } }
    }

    @Test("A sink that changes its requirements gets the new format from the next frame on")
    func wants() async throws {
        let record = Record()
        let capturer = Capturer(ScriptedSourceConfiguration(.init(.frames(6))))
        capturer.attach(Changing(record), queue: .lossless(1))
        try await capturer.run()
        let sizes = record.state.withLock { $0.sizes }
        #expect(sizes.count == 6)
        #expect(sizes.prefix(2).allSatisfy { $0 == ImageSize(width: 64, height: 48) })
        #expect(sizes.dropFirst(2).allSatisfy { $0 == ImageSize(width: 32, height: 24) })
    }

    @Test("A format set by the application is not changed by the sink")
    func fixedWants() async throws {
        let record = Record()
        let capturer = Capturer(ScriptedSourceConfiguration(.init(.frames(6))))
        capturer.attach(Changing(record), queue: .lossless(1), wants: SinkWants())
        try await capturer.run()
        #expect(record.state.withLock { $0.sizes } == Array(repeating: ImageSize(width: 64, height: 48), count: 6))
    }

    /// The sink has sessions, but none is open.
    final class Idle: FrameSink {
        let record: Record

        init(_ record: Record) { self.record = record }

        var takesFrames: Bool { false }

        func start(_ format: VideoFormat, _ context: SinkContext) { context.report(SinkSessions()) }
        func consume(_ frame: VideoFrame) {}
        func sourceChanged(to condition: SourceCondition) { record.state.withLock { $0.conditions.append(condition) } }
    }

    @Test("A sink's outage or pause ends once the source is closed for want of viewers")
    func unwatched() async throws {
        let record = Record()
        let script = ScriptedSource.Script(
            format: ScriptedSource.format(pacing: .live),
            [ScriptedSource.Step].frames(2) + [.interrupt("the cable is out"), .hang])
        var configuration = CapturerConfiguration()
        configuration.closesUnwatchedAfter = .seconds(2)
        let capturer = Capturer(ScriptedSourceConfiguration(script), configuration: configuration)
        capturer.attach(Idle(record))
        async let outcome = capturer.run()
        await Waiting.until { capturer.state == .unwatched }
        await Waiting.until { record.conditions.last == .live }
        #expect(record.conditions == [.interrupted, .live])
        capturer.pause()
        await Waiting.until { record.conditions.last == .paused }
        capturer.resume()
        await Waiting.until { record.conditions.last == .live }
        #expect(capturer.state == .unwatched)
        capturer.stop()
        _ = try await outcome
    }

    @Test("A sink is notified of an interruption and its end; while frames arrive, nothing is reported at first")
    func interruption() async throws {
        let record = Record()
        let script = ScriptedSource.Script(
            format: ScriptedSource.format(pacing: .live),
            [ScriptedSource.Step].frames(2) + [.interrupt("the cable is out"), .hang])
        let capturer = Capturer(ScriptedSourceConfiguration(script))
        capturer.attach(Changing(record))
        async let outcome = capturer.run()
        await Waiting.until { !record.conditions.isEmpty }
        #expect(record.conditions == [.interrupted])
        capturer.setEnabled(false)
        capturer.pause()
        await Waiting.until { record.conditions.last == .paused }
        capturer.stop()
        _ = try await outcome
    }
}

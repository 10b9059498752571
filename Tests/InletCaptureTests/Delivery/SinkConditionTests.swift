import InletCapture
import InletCore
import InletTesting
import ReferenceTools
import Synchronization
import Testing

/// What sinks are told of the source, and how they change what they want.
@Suite(.timeLimit(.minutes(2))) struct SinkConditionTests {
    final class Record: Sendable {
        let state = Mutex((conditions: [SourceCondition](), sizes: [ImageSize](), sequences: [UInt64]()))
        var conditions: [SourceCondition] { state.withLock { $0.conditions } }
    }

    /// Wants half the size from its third frame on.
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

    @Test("A sink that wants something else gets it from the next frame on")
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

    @Test("What the application said that a sink gets is not changed by the sink")
    func fixedWants() async throws {
        let record = Record()
        let capturer = Capturer(ScriptedSourceConfiguration(.init(.frames(6))))
        capturer.attach(Changing(record), queue: .lossless(1), wants: SinkWants())
        try await capturer.run()
        #expect(record.state.withLock { $0.sizes } == Array(repeating: ImageSize(width: 64, height: 48), count: 6))
    }

    /// Has sessions, and none is open.
    final class Idle: FrameSink {
        let record: Record

        init(_ record: Record) { self.record = record }

        var takesFrames: Bool { false }

        func start(_ format: VideoFormat, _ context: SinkContext) { context.report(SinkSessions()) }
        func consume(_ frame: VideoFrame) {}
        func sourceChanged(to condition: SourceCondition) { record.state.withLock { $0.conditions.append(condition) } }
    }

    @Test("An outage and a pause are over for a sink once the source is closed because nobody watches")
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

    @Test("An interruption is told, and its end; of frames that come a sink is told nothing at first")
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

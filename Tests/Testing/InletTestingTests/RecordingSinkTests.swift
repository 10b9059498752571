import Dispatch
import InletCore
import InletTesting
import Testing

struct RecordingSinkTests {
    private let format = VideoFormat(size: ImageSize(width: 16, height: 16), timeBase: Rational(1, 30))

    private func frame(_ index: Int) throws -> VideoFrame {
        var draft = try I420Draft(size: format.size)
        draft.fill(y: UInt8(index), u: 128, v: 128)
        return VideoFrame(
            buffer: draft.publish(), timestamp: MonotonicTime(nanoseconds: Int64(index)),
            pts: MediaTime(ticks: Int64(index), timeBase: format.timeBase), sequence: UInt64(index))
    }

    @Test("the log contains the sink's calls in order")
    func record() async throws {
        let sink = RecordingSink()
        try sink.start(format, SinkContext())
        for index in 0..<3 { try sink.consume(frame(index)) }
        #expect(!sink.log.isFinished)
        try sink.finish()
        await sink.log.finished()
        await sink.log.frames(atLeast: 3)
        #expect(sink.log.formats == [format])
        #expect(sink.log.frames.map(\.sequence) == [0, 1, 2])
        #expect(sink.log.frames.map(\.firstLuma) == [0, 1, 2])
        #expect(sink.log.events.count == 5)
        #expect(sink.log.keptFrames.isEmpty)
    }

    @Test("the requested number of latest frames is kept until they are released")
    func keeping() throws {
        var behavior = RecordingSink.Behavior()
        behavior.keptFrames = 2
        let sink = RecordingSink(behavior)
        for index in 0..<5 { try sink.consume(frame(index)) }
        #expect(sink.log.keptFrames.map(\.sequence) == [3, 4])
        sink.log.releaseKeptFrames()
        #expect(sink.log.keptFrames.isEmpty)
        #expect(sink.log.frames.count == 5)
    }

    @Test("the sink throws the configured errors")
    func errors() throws {
        var behavior = RecordingSink.Behavior()
        behavior.startError = InletError(.busy, "start")
        behavior.frameError = (1, InletError(.inputOutput, "frame"))
        behavior.finishError = InletError(.internal, "finish")
        let sink = RecordingSink(behavior)
        #expect(#expect(throws: InletError.self) { try sink.start(format, SinkContext()) }?.code == .busy)
        try sink.consume(frame(0))
        #expect(#expect(throws: InletError.self) { try sink.consume(frame(1)) }?.code == .inputOutput)
        #expect(#expect(throws: InletError.self) { try sink.finish() }?.code == .internal)
        #expect(sink.log.frames.count == 1)

        var limited = RecordingSink.Behavior()
        limited.frameLimit = 1
        let short = RecordingSink(limited)
        try short.consume(frame(0))
        #expect(throws: SinkStopped.self) { try short.consume(frame(1)) }
    }

    @Test("a sink at a closed gate records nothing until the gate opens")
    func gate() async throws {
        let gate = Gate()
        var behavior = RecordingSink.Behavior()
        behavior.gate = gate
        let log = RecordingSink.Log()
        let frames = try (0..<2).map { try frame($0) }
        DispatchQueue(label: "delivery").async { [behavior] in
            let sink = RecordingSink(behavior, log: log)
            for frame in frames { try? sink.consume(frame) }
            try? sink.finish()
        }
        await gate.someoneWaits()
        #expect(log.frames.isEmpty)
        gate.letThrough()
        await log.frames(atLeast: 1)
        await gate.someoneWaits()
        #expect(log.frames.count == 1)
        gate.open()
        await log.finished()
        #expect(log.frames.count == 2)
    }

    @Test("a slow sink takes its time on the given clock")
    func slowness() throws {
        let clock = ManualClock(waiting: .movesTime)
        var behavior = RecordingSink.Behavior()
        behavior.delay = (.milliseconds(200), clock)
        let sink = RecordingSink(behavior)
        let start = clock.now
        for index in 0..<5 { try sink.consume(frame(index)) }
        #expect(clock.now - start == .seconds(1))
    }

    @Test("the recording sink keeps the sink contract")
    func conformance() async {
        struct Configuration: FrameSinkConfiguration {
            let redactedURI = "recording:"
            func makeSink() -> any FrameSink { RecordingSink() }
        }
        #expect(await SinkConformance.check { Configuration() } == [])
    }
}

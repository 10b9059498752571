import InletCapture
import InletCore
import InletTesting
import ReferenceTools
import Synchronization
import Testing

/// Keeps all traces.
final class RecordingTracer: FrameTracer {
    private let recorded = Mutex<[FrameTrace]>([])
    var traces: [FrameTrace] { recorded.withLock { $0 } }
    func trace(_ trace: FrameTrace) { recorded.withLock { $0.append(trace) } }
}

@Suite(.timeLimit(.minutes(10))) struct FrameTraceTests {
    private let tracer = RecordingTracer()

    private func capturer(_ steps: [ScriptedSource.Step]) -> Capturer {
        var configuration = CapturerConfiguration()
        configuration.tracer = tracer
        return Capturer(ScriptedSourceConfiguration(.init(steps)), configuration: configuration)
    }

    @Test("Every frame is traced once for each sink, with its stages in order")
    func delivered() async throws {
        let capturer = capturer(.frames(20))
        let ids = ["one", "two"].map { capturer.attach(RecordingSink(), named: $0) }
        try await capturer.run()
        for (id, name) in zip(ids, ["one", "two"]) {
            let traces = tracer.traces.filter { $0.sinkID == id }
            #expect(traces.map(\.sequence) == Array(0..<20))
            for trace in traces {
                #expect(trace.sink == name && trace.source == "scripted:" && trace.dropReason == nil)
                let stages = trace.stages
                let times = [
                    stages.decoded, stages.queued, stages.taken, stages.converted, stages.delivered, trace.end,
                ]
                #expect(times.allSatisfy { $0 != nil })
                #expect(times.compactMap(\.self) == times.compactMap(\.self).sorted())
            }
        }
    }

    @Test("A frame that a full queue drops is traced with its own number")
    func superseded() async throws {
        let gate = Gate()
        var behavior = RecordingSink.Behavior()
        behavior.gate = gate
        let capturer = capturer(.frames(20))
        capturer.attach(RecordingSink(behavior), queue: .latest)
        async let reason = capturer.run()
        await gate.someoneWaits()
        await Waiting.until { capturer.statistics.captured >= 20 }
        gate.open()
        _ = try await reason
        #expect(tracer.traces.map(\.sequence).sorted() == Array(0..<20))
        let dropped = tracer.traces.filter { $0.dropReason == .superseded }
        #expect(UInt64(dropped.count) == capturer.statistics.drops[.superseded])
        #expect(dropped.allSatisfy { $0.stages.taken == nil })
        #expect(tracer.traces.last?.sequence == 19 && tracer.traces.last?.dropReason == nil)
    }

    @Test("Frames that a rate leaves out are traced, too")
    func rateLimited() async throws {
        let capturer = capturer(.frames(30))
        capturer.attach(RecordingSink(), wants: SinkWants(maximumFrameRate: Rational(10)))
        try await capturer.run()
        let limited = UInt64(tracer.traces.count { $0.dropReason == .rateLimited })
        #expect(limited > 0 && limited == capturer.statistics.drops[.rateLimited])
        #expect(tracer.traces.count == 30)
    }

    @Test("The frame at which a sink failed is traced with the stages it reached")
    func sinkFailed() async throws {
        var behavior = RecordingSink.Behavior()
        behavior.frameError = (index: 2, error: InletError(.resourceExhausted, "The disk is full."))
        let capturer = capturer(.frames(3))
        capturer.attach(RecordingSink(behavior))
        try await capturer.run()
        let failed = tracer.traces.filter { $0.dropReason == .sinkFailed }
        #expect(failed.map(\.sequence) == [2])
        #expect(failed.first?.stages.delivered != nil)
    }

    @Test("A sequence's frames are traced as they are handed over")
    func sequence() async throws {
        let capturer = capturer(.frames(5))
        try await capturer.run(queue: .lossless()) { frames in for try await _ in frames {} }
        #expect(tracer.traces.map(\.sequence) == Array(0..<5))
        #expect(tracer.traces.allSatisfy { $0.end == $0.stages.delivered && $0.sink == "frames" })
    }
}

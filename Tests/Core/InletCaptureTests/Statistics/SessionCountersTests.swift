import InletCore
import InletTesting
import Logging
import Testing

@testable import InletCapture

@Suite(.timeLimit(.minutes(10))) struct SessionCountersTests {
    private let clock = ManualClock()

    private func context() -> SourceContext { SourceContext(clock: clock, logger: Logger(label: "test")) }

    @Test("Losses of all connections add up, including those of the present one")
    func losses() {
        let counters = SessionCounters()
        #expect(counters.statistics(at: clock.now).sourceDrops.isEmpty)
        for _ in 0..<3 {
            let context = context()
            counters.follow(context)
            context.countDrop(.damaged, 2)
            counters.follow(context)
        }
        let last = context()
        counters.follow(last)
        #expect(counters.statistics(at: clock.now).sourceDrops == [.damaged: 6])
        last.countDrop(.damaged)
        last.countDrop(DropReason("cosmicRay"))
        #expect(counters.statistics(at: clock.now).sourceDrops == [.damaged: 7, DropReason("cosmicRay"): 1])
    }

    @Test("Arrivals and timestamps are those of the first and the newest frame")
    func times() {
        let counters = SessionCounters()
        #expect(counters.statistics(at: clock.now).firstArrival == nil)
        for second: Int64 in 1...5 {
            let time = MonotonicTime(nanoseconds: second * 1_000_000_000)
            counters.frameArrived(at: time, timestamp: time - .milliseconds(20), captureTime: time - .milliseconds(8))
        }
        let statistics = counters.statistics(at: MonotonicTime(nanoseconds: 5_000_000_000))
        #expect(statistics.captured == 5)
        #expect(statistics.firstArrival == MonotonicTime(nanoseconds: 1_000_000_000))
        #expect(statistics.lastArrival == MonotonicTime(nanoseconds: 5_000_000_000))
        #expect(statistics.firstTimestamp == MonotonicTime(nanoseconds: 980_000_000))
        #expect(statistics.lastTimestamp == MonotonicTime(nanoseconds: 4_980_000_000))
        #expect(statistics.captureLatency.count == 5)
        #expect(statistics.captureLatency.maximum == .milliseconds(8))
        #expect(statistics.frameRate == 1 && statistics.recentFrameRate == 1)
    }

    @Test("A gap in the source's count is reported as lost by the source, next to the source's own count")
    func gaps() async throws {
        let frames = [0, 1, 5, 6, 9].map { ScriptedSource.Step.frame(ScriptedFrame(pts: $0, sequence: UInt64($0))) }
        let capturer = Capturer(ScriptedSourceConfiguration(.init(frames + [.drop(.lostBySource, 1)])))
        try await capturer.run()
        #expect(capturer.statistics.captured == 5)
        #expect(capturer.statistics.sourceDrops == [.lostBySource: 6])
    }

    @Test("Capture latency is measured only if the source states its capture times")
    func captureLatency() async throws {
        let time = clock.now
        let capturer = Capturer(
            ScriptedSourceConfiguration(
                .init([
                    .make { sequence in
                        var frame = SourceFrame(
                            try I420Draft(size: ImageSize(width: 16, height: 16)).publish(), pts: nil,
                            sequence: sequence)
                        frame.captureTime = time - .milliseconds(40)
                        return frame
                    },
                    .frame(ScriptedFrame(pts: 1)),
                ])), clock: clock)
        try await capturer.run()
        #expect(capturer.statistics.captureLatency.count == 1)
        #expect(capturer.statistics.captureLatency.maximum == .milliseconds(40))
    }
}

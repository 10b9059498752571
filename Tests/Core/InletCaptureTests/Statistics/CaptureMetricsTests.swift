import CoreMetrics
import InletCore
import InletTesting
import MetricsTestKit
import ReferenceTools
import Testing

@testable import InletCapture

@Suite(.timeLimit(.minutes(10))) struct CaptureMetricsTests {
    private let metrics = TestMetrics()
    private let source = [("source", "scripted:")]

    private func capturer(_ steps: [ScriptedSource.Step], clock: any CaptureClock = SystemClock()) -> Capturer {
        Capturer(ScriptedSourceConfiguration(.init(steps)), clock: clock)
    }

    private func statistics(captured: UInt64) -> CaptureStatistics {
        var statistics = CaptureStatistics()
        statistics.captured = captured
        return statistics
    }

    @Test("After a run, the counters equal the statistics")
    func afterRun() async throws {
        let capturer = capturer(.frames(20) + [.drop(.damaged, 3)] + .frames(10))
        capturer.attach(RecordingSink(), named: "one")
        capturer.attach(RecordingSink(), named: "two")
        // Long enough that only the first and the last publication happen.
        async let published: Void = CaptureMetrics(capturer, interval: .seconds(3600), factory: metrics).run()
        try await capturer.run()
        await published
        #expect(metrics.counterTotal(label: "inlet_frames_captured_total", dimensions: source) == 30)
        #expect(metrics.counterTotal(label: "inlet_frames_converted_total", dimensions: source) == 30)
        let damaged = source + [("reason", "damaged")]
        #expect(metrics.counterTotal(label: "inlet_source_frames_dropped_total", dimensions: damaged) == 3)
        for sink in ["one", "two"] {
            let dimensions = source + [("sink", sink)]
            #expect(metrics.counterTotal(label: "inlet_sink_frames_delivered_total", dimensions: dimensions) == 30)
            for label in ["queue_latency", "conversion_time", "delivery_latency", "consume_time"] {
                let timer = try metrics.expectTimer("inlet_sink_\(label)_seconds", dimensions)
                #expect(timer.values.count == 30)
            }
        }
        let ended = metrics.meters(label: "inlet_capturer_state", dimensions: source + [("state", "ended")])
        #expect(ended.map(\.lastValue) == [1])
    }

    @Test("Metrics are published once an interval of the capturer's clock")
    func interval() async throws {
        let clock = ManualClock()
        let capturer = capturer(.frames(5) + [.stall(.seconds(1))] + .frames(5) + [.stall(.seconds(5))], clock: clock)
        async let published: Void = CaptureMetrics(capturer, interval: .milliseconds(800), factory: metrics).run()
        #expect(await clock.timer(onQueue: "inlet.sleep") == .milliseconds(800))
        async let reason = capturer.run()
        func count() throws -> Int64 { try metrics.expectCounter("inlet_frames_captured_total", source).totalValue }
        await clock.waiters()
        await clock.run(for: .milliseconds(799))
        #expect(try count() == 0)
        // Each publication is followed by a timer for the next.
        await clock.run(for: .milliseconds(1))
        #expect(await clock.timer(onQueue: "inlet.sleep") == .milliseconds(800))
        #expect(try count() == 5)
        await clock.run(for: .milliseconds(200))
        await Waiting.until { capturer.statistics.captured >= 10 }
        #expect(try count() == 5)
        await clock.run(for: .milliseconds(600))
        #expect(await clock.timer(onQueue: "inlet.sleep") == .milliseconds(800))
        #expect(try count() == 10)
        capturer.stop()
        _ = try await reason
        await published
        #expect(try count() == 10)
    }

    @Test("Counters grow by the difference to the last publication")
    func differences() throws {
        let reporter = CaptureMetrics(capturer([]), factory: metrics)
        for captured: UInt64 in [0, 10, 10, 25] { reporter.publish(statistics(captured: captured), phase: .live) }
        #expect(try metrics.expectCounter("inlet_frames_captured_total", source).values == [0, 10, 15])
    }

    @Test("Durations reach the timer once each, at most 6.25 % off")
    func durations() throws {
        let histogram = LatencyHistogram()
        let reporter = CaptureMetrics(capturer([]), factory: metrics)
        var expected: [Int64] = []
        for round: Int64 in 1...3 {
            for index: Int64 in 1...50 {
                expected.append(index * index * 1000 * round)
                histogram.record(.nanoseconds(index * index * 1000 * round))
            }
            var statistics = CaptureStatistics()
            statistics.captureLatency = histogram.snapshot
            reporter.publish(statistics, phase: .live)
        }
        let values = try metrics.expectTimer("inlet_capture_latency_seconds", source).values
        #expect(values.count == 150)
        for (value, exact) in zip(values.sorted(), expected.sorted()) {
            #expect(abs(Double(value - exact)) <= Double(exact) * 0.0625 + 1)
        }
    }

    @Test("The state that was left goes to 0, and a state's details are not part of its name")
    func states() throws {
        let reporter = CaptureMetrics(capturer([]), factory: metrics)
        let states: [CapturerState] = [
            .opening, .live, .waiting(attempt: 1, delay: .seconds(2.5)), .waiting(attempt: 2, delay: .seconds(5)),
        ]
        for state in states { reporter.publish(statistics(captured: 0), phase: state.phase) }
        func values(_ state: String) throws -> [Double] {
            try metrics.expectMeter("inlet_capturer_state", source + [("state", state)]).values
        }
        #expect(try values("opening") == [1, 0])
        #expect(try values("live") == [1, 0])
        #expect(try values("waiting") == [1, 1])
    }

    @Test("Sinks with the same name share their counters")
    func sharedNames() {
        var statistics = CaptureStatistics()
        statistics.sinks = (1...2).map { number in
            var sink = CaptureStatistics.Sink(id: SinkID(number: number), name: "null:")
            sink.delivered = 7
            return sink
        }
        CaptureMetrics(capturer([]), factory: metrics).publish(statistics, phase: .live)
        let total = metrics.counterTotal(
            label: "inlet_sink_frames_delivered_total", dimensions: source + [("sink", "null:")])
        #expect(total == 14)
    }

    @Test("A sink's sessions are meters, the opened ones a counter; a sink without sessions has neither")
    func sessions() throws {
        let reporter = CaptureMetrics(capturer([]), factory: metrics)
        var statistics = CaptureStatistics()
        statistics.sinks = ["whip:", "null:"].enumerated().map {
            CaptureStatistics.Sink(id: SinkID(number: $0 + 1), name: $1)
        }
        var sessions = SinkSessions()
        for (open, pending, opened) in [(0, 1, UInt64(0)), (1, 0, 1), (0, 1, 1), (1, 0, 2)] {
            (sessions.open, sessions.pending, sessions.opened) = (open, pending, opened)
            statistics.sinks[0].sessions = sessions
            reporter.publish(statistics, phase: .live)
        }
        let dimensions = source + [("sink", "whip:")]
        #expect(try metrics.expectMeter("inlet_sink_sessions", dimensions).values == [0, 1, 0, 1])
        #expect(try metrics.expectMeter("inlet_sink_sessions_pending", dimensions).values == [1, 0, 1, 0])
        #expect(try metrics.expectCounter("inlet_sink_sessions_opened_total", dimensions).totalValue == 2)
        #expect(throws: (any Error).self) {
            try metrics.expectMeter("inlet_sink_sessions", source + [("sink", "null:")])
        }
    }

    @Test("A source's received bytes and packets grow by the difference, and add up over its connections")
    func reception() throws {
        let reporter = CaptureMetrics(capturer([]), factory: metrics)
        var first = ReceptionFigures()
        (first.packets, first.packetsLost, first.packetsDuplicated) = (100, 4, 3)
        (first.packetsReordered, first.packetsLate, first.jitter) = (2, 1, .milliseconds(9))
        var second = first
        second.jitter = .milliseconds(4)
        (second.keyFrameRequests, second.keyFrameResponses) = (3, 2)
        second.keyFrameResponseTime = .milliseconds(300)
        for figures in [first, first.followed(by: second)] {
            var statistics = CaptureStatistics()
            statistics.reception = figures
            reporter.publish(statistics, phase: .live)
        }
        let totals: KeyValuePairs<String, Int64> = [
            "packets_received": 200, "packets_lost": 8, "packets_duplicated": 6, "packets_reordered": 4,
            "packets_late": 2, "key_frame_requests": 3, "key_frame_responses": 2,
        ]
        for (name, total) in totals {
            #expect(try metrics.expectCounter("inlet_source_\(name)_total", source).totalValue == total, "\(name)")
        }
        #expect(try metrics.expectMeter("inlet_source_jitter_seconds", source).values == [0.009, 0.004])
        #expect(try metrics.expectMeter("inlet_source_key_frame_response_seconds", source).values == [0.15])
    }

    @Test("Cancelling the reporter's task ends it even if the capturer is not started")
    func cancellation() async {
        let capturer = capturer([])
        let task = Task { [metrics] in
            await CaptureMetrics(capturer, interval: .seconds(3600), factory: metrics).run()
        }
        task.cancel()
        await task.value
        #expect(metrics.counterTotal(label: "inlet_frames_captured_total", dimensions: source) == 0)
    }
}

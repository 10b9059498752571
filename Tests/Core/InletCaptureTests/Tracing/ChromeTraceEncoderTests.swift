import Foundation
import InletCore
import ReferenceTools
import Testing

@testable import InletCapture

@Suite(.blocking) struct ChromeTraceEncoderTests {
    private func time(_ milliseconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(milliseconds * 1_000_000))
    }

    /// A frame that takes a millisecond in each stage, from `start` on.
    private func trace(
        _ sequence: UInt64, at start: Double, source: String = "test:", sink: Int = 1, named name: String = "null:"
    ) -> FrameTrace {
        var stages = StageTimes()
        stages.captured = time(start)
        stages.received = time(start + 1)
        stages.decoded = time(start + 2)
        stages.queued = time(start + 2)
        stages.taken = time(start + 3)
        stages.converted = time(start + 4)
        stages.delivered = time(start + 4)
        return FrameTrace(
            source: source, sinkID: SinkID(number: sink), sink: name, sequence: sequence, timestamp: time(start),
            stages: stages, end: time(start + 5))
    }

    private func check(_ encoder: inout ChromeTraceEncoder) throws -> TraceCheck.Summary {
        encoder.finish(framesLeftOut: 0)
        return try check(encoder.takeText())
    }

    private func check(_ text: [UInt8], isCut: Bool = false) throws -> TraceCheck.Summary {
        let folder = try TemporaryFolder()
        let path = folder.path("trace.json")
        try Data(text).write(to: URL(fileURLWithPath: path))
        return try TraceCheck.run(path, isCut: isCut)
    }

    @Test("Each stage has a track, in the order in which a frame passes them")
    func stages() throws {
        var encoder = ChromeTraceEncoder()
        for number in 0..<10 { encoder.encode(trace(UInt64(number), at: Double(number) * 33)) }
        let summary = try check(&encoder)
        #expect(summary.processes == ["test:"])
        #expect(summary.threads == ["receive", "decode", "null: queue", "null: convert", "null: consume"])
        for thread in summary.threads {
            #expect(summary.slices[thread] == 10)
            #expect(summary.nanoseconds[thread] == 10_000_000)
            #expect(summary.frames[thread] == Array(0..<10))
        }
        #expect(summary.instants.isEmpty)
    }

    @Test("Frames that are in one stage at once get further threads, so that nothing overlaps")
    func overlaps() throws {
        var encoder = ChromeTraceEncoder()
        // Three of them wait at a time.
        for number in 0..<30 { encoder.encode(trace(UInt64(number), at: Double(number) * 0.4)) }
        let summary = try check(&encoder)
        #expect(
            summary.threads.filter { $0.contains("queue") } == ["null: queue", "null: queue 2", "null: queue 3"])
        #expect(summary.slices(of: "queue") == 30)
    }

    @Test("Late or unordered traces do not overlap", arguments: 0..<10)
    func disorder(seed: Int) throws {
        var random = UInt64(seed)
        func next(_ bound: UInt64) -> Double {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double((random >> 33) % bound)
        }
        var encoder = ChromeTraceEncoder()
        for number in 0..<200 {
            encoder.encode(trace(UInt64(number), at: 1000 + Double(number) + next(20), sink: 1 + number % 2))
        }
        let summary = try check(&encoder)
        #expect(summary.slices(of: "consume") == 200)
    }

    @Test("A frame's path through the source is written once, however many sinks report it")
    func severalSinks() throws {
        var encoder = ChromeTraceEncoder()
        for number in 0..<5 { encoder.encode(trace(UInt64(number), at: Double(number) * 33, sink: 1, named: "a")) }
        for number in 0..<5 { encoder.encode(trace(UInt64(number), at: Double(number) * 33, sink: 2, named: "b")) }
        for number in 0..<5 { encoder.encode(trace(UInt64(number), at: Double(number) * 33, sink: 3, named: "b")) }
        let summary = try check(&encoder)
        #expect(summary.slices["decode"] == 5)
        #expect(summary.slices["a convert"] == 5)
        #expect(summary.slices["b convert"] == 5)
        #expect(summary.slices["b (sink-3) convert"] == 5)
    }

    @Test("A dropped frame is an instant with its reason, and has the stages that it reached")
    func drops() throws {
        var encoder = ChromeTraceEncoder()
        var dropped = trace(7, at: 1)
        dropped.dropReason = .superseded
        dropped.stages.taken = nil
        dropped.stages.converted = nil
        dropped.stages.delivered = nil
        encoder.encode(dropped)
        let summary = try check(&encoder)
        #expect(summary.instants == ["dropped: superseded": 1])
        #expect(summary.threads == ["receive", "decode", "null: queue"])
        #expect(summary.slices["null: queue"] == nil)
    }

    @Test("Any name is valid JSON", arguments: ["a\"b\\c", "new\nline\u{1}\u{7F}", "Kamera Tür \u{1F3A5}", ""])
    func names(name: String) throws {
        var encoder = ChromeTraceEncoder()
        encoder.encode(trace(1, at: 1, source: "test:\(name)", named: name))
        let summary = try check(&encoder)
        #expect(summary.processes == ["test:\(name)"])
        #expect(summary.threads.last == "\(name) consume")
    }

    @Test("Without its end, and after each piece, the text lacks only the closing bracket")
    func cut() throws {
        var encoder = ChromeTraceEncoder()
        var text: [UInt8] = []
        for number in 0..<3 {
            encoder.encode(trace(UInt64(number), at: Double(number) * 33))
            text += encoder.takeText()
            #expect(try check(text, isCut: true).slices["decode"] == number + 1)
        }
    }

    @Test("An empty trace is an empty array")
    func empty() throws {
        var encoder = ChromeTraceEncoder()
        #expect(try check(&encoder).threads.isEmpty)
    }

    @Test("Threads are bounded, and events without room are counted in the trace")
    func bounded() throws {
        var encoder = ChromeTraceEncoder()
        for number in 0..<100 {
            var stuck = trace(UInt64(number), at: 1)
            stuck.timestamp = time(Double(number))
            encoder.encode(stuck)
        }
        let summary = try check(&encoder)
        #expect(summary.threads.count == 5 * ChromeTraceEncoder.maximumLanes)
        #expect(encoder.leftOut == UInt64(5 * (100 - ChromeTraceEncoder.maximumLanes)))
        #expect(summary.instants == ["incomplete": 1])
    }

    @Test("Extreme times keep their nanoseconds", arguments: [0, 1, 999, 1000, 123_456_789_012_345_678])
    func precision(nanoseconds: Int64) throws {
        var encoder = ChromeTraceEncoder()
        var trace = trace(1, at: 1)
        trace.stages = StageTimes()
        trace.stages.delivered = MonotonicTime(nanoseconds: 5)
        trace.end = MonotonicTime(nanoseconds: 5 + nanoseconds)
        encoder.encode(trace)
        #expect(try check(&encoder).nanoseconds["null: consume"] == Int(nanoseconds))
    }
}

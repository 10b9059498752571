import InletConvert
import InletCore
import InletTesting
import ReferenceTools
import Synchronization
import Testing

@testable import InletCapture

/// One sink at the end of its queue: the frames that it gets, the work that it is spared, and its failures.
@Suite(.timeLimit(.minutes(10))) struct SinkDeliveryTests {
    private static let full = InletError(.resourceExhausted, "The disk is full.")

    /// Makes recording sinks, each with the next behavior; the last behavior is used for all further ones.
    private struct Sinks: FrameSinkConfiguration {
        let log = RecordingSink.Log()
        var behaviors: [RecordingSink.Behavior]
        /// Whether the sinks state that they return at once.
        var areImmediate = false
        let made = Counter()
        var redactedURI: String { "recording:" }

        final class Counter: Sendable {
            let count = Atomic(0)
        }

        init(_ behaviors: RecordingSink.Behavior..., areImmediate: Bool = false) {
            self.behaviors = behaviors
            self.areImmediate = areImmediate
        }

        func makeSink() -> any FrameSink {
            let index = made.count.add(1, ordering: .relaxed).oldValue
            var behavior = behaviors[min(index, behaviors.count - 1)]
            behavior.consumesAtOnce = areImmediate
            return RecordingSink(behavior, log: log)
        }
    }

    private static func failing(at index: Int) -> RecordingSink.Behavior {
        var behavior = RecordingSink.Behavior()
        behavior.frameError = (index, full)
        return behavior
    }

    /// A delivery that is driven frame by frame.
    private struct Run {
        let clock = ManualClock()
        let delivery: SinkDelivery
        let events = Events()
        private let made: Sinks.Counter

        final class Events: Sendable {
            let texts = Mutex([String]())
            let conversions = Atomic(0)
            var all: [String] { texts.withLock { $0 } }
        }

        init(
            _ sinks: Sinks, wants: SinkWants = SinkWants(), policy: QueuePolicy = .lossless(100),
            restart: RestartDelay? = nil
        ) {
            made = sinks.made
            let events = events
            let conversion = ConversionContext(
                converter: FrameConverter(), pool: I420BufferPool(capacity: 4), scalingPool: I420BufferPool(capacity: 4)
            ) { events.conversions.add(1, ordering: .relaxed) }
            delivery = SinkDelivery(
                id: SinkID(number: 1), name: "sink", sink: sinks.makeSink(), wants: wants, policy: policy,
                restart: restart.map { .init(configuration: sinks, delay: $0) },
                context: DeliveryContext(clock: clock, conversion: conversion) { _, event in
                    let text =
                        switch event {
                        case .ended(let error): "ended \(error?.code.description ?? "well")"
                        case .restarting(let error, let attempt, let delay): "\(error.code) \(attempt) \(delay)"
                        }
                    events.texts.withLock { $0.append(text) }
                })
            delivery.begin(ScriptedSource.format(), room: ProducerGate())
        }

        /// Offers a frame and waits until it was delivered or dropped, and a failure was reported.
        func offer(_ size: ImageSize = ImageSize(width: 64, height: 48)) async throws {
            let (before, failed) = (settled, drops[.sinkFailed])
            try put(size, sequence: before)
            await Waiting.until { settled != before }
            guard drops[.sinkFailed] != failed else { return }
            // The drop is counted first. Each sink fails once, and none is made before the last failure is reported.
            await Waiting.until { events.all.count == made.count.load(ordering: .relaxed) }
        }

        /// Offers a frame.
        func put(_ size: ImageSize = ImageSize(width: 64, height: 48), sequence: UInt64) throws {
            var draft = try I420Draft(size: size)
            draft.fillBlack()
            let frame = SourceFrame(draft.publish(), pts: nil, sequence: sequence)
            delivery.offer(
                CapturedFrame(
                    frame, timestamp: MonotonicTime(nanoseconds: Int64(sequence) * 1_000_000), stages: StageTimes())
            ) { false }
        }

        /// Ends the stream, and waits until the sink has ended with it, so that no thread is left behind.
        func end() async {
            delivery.finish(nil)
            await delivery.ended.value()
        }

        var converted: Int { events.conversions.load(ordering: .relaxed) }

        var drops: [DropReason: UInt64] { delivery.counters.snapshot(id: delivery.id, name: "").drops }
        var delivered: UInt64 { delivery.counters.snapshot(id: delivery.id, name: "").delivered }
        private var settled: UInt64 { delivered + drops.values.reduce(0, +) }
    }

    // MARK: Converting

    @Test("If no frame may be lost, each is converted when it is offered; otherwise when it is taken")
    func convertsAhead() async throws {
        for (policy, converted) in [(QueuePolicy.lossless(3), 3), (.buffered(3, dropping: .newest), 1), (.latest, 1)] {
            let gate = Gate()
            var behavior = RecordingSink.Behavior()
            behavior.gate = gate
            let run = Run(Sinks(behavior), policy: policy)
            for sequence in 0..<3 { try run.put(sequence: UInt64(sequence)) }
            await gate.someoneWaits()
            #expect(run.converted == converted, "\(policy)")
            gate.open()
            await run.end()
            let snapshot = run.delivery.counters.snapshot(id: run.delivery.id, name: "")
            // Each frame is converted once, on either thread.
            #expect(snapshot.conversionTime.count == snapshot.delivered, "\(policy)")
        }
    }

    @Test("Nothing is converted for a sink that waits to be restarted")
    func convertsNothing() async throws {
        let run = Run(Sinks(Self.failing(at: 0), RecordingSink.Behavior()), restart: RestartDelay())
        try await run.offer()
        for _ in 0..<3 { try await run.offer() }
        #expect(run.converted == 1)
        await run.end()
    }

    // MARK: Failing

    @Test(
        "A sink that throws is restarted after its delay, on the same queue, and gets the frames from then on",
        arguments: [false, true])
    func restarts(isImmediate: Bool) async throws {
        let sinks = Sinks(Self.failing(at: 2), RecordingSink.Behavior(), areImmediate: isImmediate)
        let run = Run(sinks, restart: RestartDelay())
        for _ in 0..<3 { try await run.offer() }
        #expect(run.events.all == ["resourceExhausted 1 1.0 seconds"])
        // The failed sink was finished, and no other is made before its time.
        #expect(sinks.log.isFinished && sinks.made.count.load(ordering: .relaxed) == 1)
        run.clock.advance(by: .milliseconds(999))
        for _ in 0..<2 { try await run.offer() }
        #expect(run.drops == [.sinkFailed: 3])
        run.clock.advance(by: .milliseconds(1))
        for _ in 0..<4 { try await run.offer() }
        #expect(sinks.made.count.load(ordering: .relaxed) == 2)
        #expect(sinks.log.formats.count == 2)
        #expect(sinks.log.frames.map(\.sequence) == [0, 1, 5, 6, 7, 8])
        await run.end()
        #expect(run.events.all.last == "ended well")
        #expect(run.delivered == 6 && run.drops == [.sinkFailed: 3])
    }

    @Test(
        "Each further attempt waits twice as long, up to the longest delay; after the last one the sink is detached",
        arguments: [false, true])
    func attempts(isImmediate: Bool) async throws {
        var delay = RestartDelay()
        delay.longest = .seconds(3)
        delay.attempts = 4
        let run = Run(Sinks(Self.failing(at: 0), areImmediate: isImmediate), restart: delay)
        for seconds in [1, 2, 3, 3] {
            try await run.offer()
            run.clock.advance(by: .seconds(seconds))
        }
        #expect(
            run.events.all == [
                "resourceExhausted 1 1.0 seconds", "resourceExhausted 2 2.0 seconds", "resourceExhausted 3 3.0 seconds",
                "resourceExhausted 4 3.0 seconds",
            ])
        try await run.offer()
        await run.delivery.ended.value()
        #expect(run.events.all.last == "ended resourceExhausted")
        #expect(run.drops == [.sinkFailed: 5])
    }

    @Test("A sink that worked for long enough begins with the first delay again", arguments: [false, true])
    func healthy(isImmediate: Bool) async throws {
        let run = Run(Sinks(Self.failing(at: 2), areImmediate: isImmediate), restart: RestartDelay())
        for advance in [0, 0, 1, 0, 0, 2] {
            try await run.offer()
            run.clock.advance(by: .seconds(advance))
        }
        // The third sink takes a frame, and its next one a long time later.
        try await run.offer()
        run.clock.advance(by: .seconds(10))
        for _ in 0..<2 { try await run.offer() }
        #expect(
            run.events.all == [
                "resourceExhausted 1 1.0 seconds", "resourceExhausted 2 2.0 seconds", "resourceExhausted 1 1.0 seconds",
            ])
        await run.end()
    }

    @Test("A sink that takes a long time to fail at its first frame does not count as healthy")
    func slowToFail() async throws {
        let gate = Gate()
        var behavior = Self.failing(at: 0)
        behavior.gate = gate
        let run = Run(Sinks(behavior), restart: RestartDelay())
        for attempt in 1...3 {
            async let offered: Void = run.offer()
            await gate.someoneWaits()
            run.clock.advance(by: .seconds(15))
            gate.letThrough()
            try await offered
            #expect(run.events.all.count == attempt)
            run.clock.advance(by: .seconds(4))
        }
        #expect(
            run.events.all == [
                "resourceExhausted 1 1.0 seconds", "resourceExhausted 2 2.0 seconds", "resourceExhausted 3 4.0 seconds",
            ])
        await run.end()
    }

    @Test("A sink that fails to start is restarted, too, and was not finished", arguments: [false, true])
    func failsToStart(isImmediate: Bool) async throws {
        var behavior = RecordingSink.Behavior()
        behavior.startError = Self.full
        let sinks = Sinks(behavior, RecordingSink.Behavior(), areImmediate: isImmediate)
        let run = Run(sinks, restart: RestartDelay())
        try await run.offer()
        #expect(!sinks.log.isFinished)
        run.clock.advance(by: .seconds(1))
        try await run.offer()
        #expect(sinks.log.frames.map(\.sequence) == [1])
        await run.end()
    }

    @Test(
        "A stream that ends while a sink waits for its restart ends the sink with its last error",
        arguments: [false, true])
    func endsWhileWaiting(isImmediate: Bool) async throws {
        for closes in [true, false] {
            let run = Run(Sinks(Self.failing(at: 0), areImmediate: isImmediate), restart: RestartDelay())
            try await run.offer()
            if closes { run.delivery.close() } else { run.delivery.finish(nil) }
            await run.delivery.ended.value()
            #expect(run.events.all == ["resourceExhausted 1 1.0 seconds", "ended resourceExhausted"])
        }
    }

    @Test("A sink that has finished, or that is not to be restarted, is detached at once", arguments: [false, true])
    func detached(isImmediate: Bool) async throws {
        var enough = RecordingSink.Behavior()
        enough.frameLimit = 1
        let satisfied = Run(Sinks(enough, areImmediate: isImmediate), restart: RestartDelay())
        for _ in 0..<2 { try await satisfied.offer() }
        await satisfied.delivery.ended.value()
        #expect(satisfied.events.all == ["ended well"])
        #expect(satisfied.drops == [.cancelled: 1])

        let failed = Run(Sinks(Self.failing(at: 0), areImmediate: isImmediate))
        try await failed.offer()
        await failed.delivery.ended.value()
        #expect(failed.events.all == ["ended resourceExhausted"])
    }

    // MARK: Wants

    @Test(
        "Impossible requirements end the sink before it starts, and it is not restarted",
        arguments: [
            SinkWants(size: ImageSize(width: 0, height: 0)),
            SinkWants(crop: .exact(ImageRect(x: 32, y: 0, width: 34, height: 48))),
            SinkWants(maximumFrameRate: Rational(-1)),
        ])
    func badWants(wants: SinkWants) async throws {
        let sinks = Sinks(RecordingSink.Behavior())
        let run = Run(sinks, wants: wants, restart: RestartDelay())
        try await run.offer()
        await run.delivery.ended.value()
        #expect(run.events.all == ["ended invalidConfiguration"])
        #expect(sinks.log.events.isEmpty)
    }

    @Test(
        "Frames too small for the wanted part are dropped with their reason once one was large enough",
        arguments: [false, true])
    func shrinkingSource(isImmediate: Bool) async throws {
        let sinks = Sinks(RecordingSink.Behavior(), areImmediate: isImmediate)
        let wants = SinkWants(crop: .exact(ImageRect(x: 32, y: 0, width: 32, height: 48)))
        let run = Run(sinks, wants: wants)
        for width in [64, 62, 32, 64, 1920] { try await run.offer(ImageSize(width: width, height: 48)) }
        #expect(run.drops == [.outsidePicture: 2])
        #expect(sinks.log.frames.map(\.size) == Array(repeating: ImageSize(width: 32, height: 48), count: 3))
        #expect(run.events.all.isEmpty)
        await run.end()
    }

    // MARK: Through the capturer

    @Test(
        "While one sink fails repeatedly, the other gets everything, and every restart is an event",
        arguments: [false, true])
    func othersNeverNotice(isImmediate: Bool) async throws {
        let capturer = Capturer(ScriptedSourceConfiguration(.init(.frames(60))))
        let good = RecordingSink.Log()
        capturer.attach(RecordingSink(log: good))
        let bad = Sinks(Self.failing(at: 9), areImmediate: isImmediate)
        var delay = RestartDelay()
        delay.first = .zero
        capturer.attach(bad, onFailure: .restart(after: delay))
        let events = capturer.events
        #expect(try await capturer.run() == .endOfStream)
        #expect(good.frames.count == 60)
        // Every tenth frame fails.
        #expect(bad.log.frames.map { $0.sequence % 10 }.allSatisfy { $0 < 9 })
        #expect(bad.log.frames.count == 54)
        var attempts: [Int] = []
        for await event in events {
            if case .sinkRestarting(_, name: "recording:", let error, let attempt, delay: .zero) = event,
                error.code == .resourceExhausted
            {
                attempts.append(attempt)
            }
        }
        #expect(attempts == Array(1...6))
        #expect(capturer.statistics.drops == [.sinkFailed: 6])
    }

    @Test(
        "A run that ends without sinks ends when the last one has finished or failed",
        arguments: [true, false])
    func endsWithoutSinks(stops: Bool) async throws {
        var configuration = CapturerConfiguration()
        configuration.endsWithoutSinks = true
        let capturer = Capturer(ScriptedSourceConfiguration(.init(.frames(5) + [.hang])), configuration: configuration)
        var first = RecordingSink.Behavior()
        first.frameLimit = 1
        var last = Self.failing(at: 3)
        if stops { (last.frameError, last.frameLimit) = (nil, 3) }
        let log = RecordingSink.Log()
        capturer.attach(RecordingSink(first), named: "first")
        capturer.attach(RecordingSink(last, log: log), named: "last")
        let events = capturer.events
        #expect(try await capturer.run() == .noSinks)
        #expect(log.frames.count == 3 && log.isFinished)
        var ends: [String] = []
        for await event in events {
            if case .sinkEnded(_, let name, let error) = event {
                ends.append("\(name) \(error?.code.description ?? "")")
            }
        }
        #expect(ends.sorted() == ["first ", stops ? "last " : "last resourceExhausted"])
    }

    @Test("A sink that fails while the source ends is reported before the events end")
    func failsAtTheEnd() async throws {
        for _ in 0..<500 {
            let capturer = Capturer(ScriptedSourceConfiguration(.init(.frames(1))))
            capturer.attach(RecordingSink(Self.failing(at: 0)))
            let events = capturer.events
            #expect(try await capturer.run() == .endOfStream)
            var isTold = false
            for await event in events {
                if case .sinkEnded(_, _, let error?) = event { isTold = error.code == .resourceExhausted }
            }
            #expect(isTold)
        }
    }

    @Test("Without endsWithoutSinks the run continues when the last sink has finished")
    func goesOnWithoutSinks() async throws {
        let capturer = Capturer(ScriptedSourceConfiguration(.init(.frames(50))))
        var behavior = RecordingSink.Behavior()
        behavior.frameLimit = 1
        capturer.attach(RecordingSink(behavior))
        #expect(try await capturer.run() == .endOfStream)
        #expect(capturer.statistics.captured == 50)
    }
}

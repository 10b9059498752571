import Foundation
import InletCore
import InletTesting
import Logging
import ReferenceTools
import Synchronization
import Testing

@testable import InletCapture

extension CapturerConfiguration {
    /// A time limit for sources that hang on purpose: only the test may end them, however slow the machine.
    static var patient: CapturerConfiguration {
        var configuration = CapturerConfiguration()
        configuration.timeouts.nextFrame = .seconds(600)
        return configuration
    }
}

/// The complete capturer on real threads, with a scripted source.
@Suite(.timeLimit(.minutes(10))) struct CapturerTests {
    private func scripted(_ steps: [ScriptedSource.Step], pacing: SourcePacing = .unpaced)
        -> ScriptedSourceConfiguration
    {
        ScriptedSourceConfiguration(.init(format: ScriptedSource.format(pacing: pacing), steps))
    }

    @Test("A lossless sink gets every frame in order, and is finished when run returns")
    func everyFrame() async throws {
        let source = scripted(.frames(100))
        let capturer = Capturer(source)
        let log = RecordingSink.Log()
        capturer.attach(RecordingSink(log: log))
        #expect(try await capturer.run() == .endOfStream)
        #expect(log.frames.map(\.sequence) == Array(0..<100))
        #expect(zip(log.frames, log.frames.dropFirst()).allSatisfy { $0.timestamp < $1.timestamp })
        #expect(log.isFinished)
        #expect(source.log.count(of: .close) == 1)
        #expect(capturer.state == .ended(.endOfStream))
        #expect(capturer.statistics.delivered == 100)
    }

    @Test("A finished, released run leaks nothing")
    func keepsNothing() async throws {
        weak var capturer: Capturer?
        weak var clock: OwnClock?
        weak var sink: RecordingSink.Log?
        func run() async throws {
            let (ownClock, log) = (OwnClock(), RecordingSink.Log())
            let own = Capturer(scripted(.frames(3)), clock: ownClock)
            own.attach(RecordingSink(log: log))
            (capturer, clock, sink) = (own, ownClock, log)
            #expect(try await own.run() == .endOfStream)
        }
        try await run()
        // Threads that are about to end may still hold objects.
        for _ in 0..<20_000 where clock != nil || sink != nil { try await Task.sleep(for: .milliseconds(1)) }
        #expect(capturer == nil)
        #expect(clock == nil)
        #expect(sink == nil)
    }

    @Test("A slow sink under latest gets the newest frame, and a frame that it does not take is never converted")
    func latest() async throws {
        let gate = Gate()
        var behavior = RecordingSink.Behavior()
        behavior.gate = gate
        let capturer = Capturer(scripted(.frames(200)))
        let log = RecordingSink.Log()
        capturer.attach(RecordingSink(behavior, log: log), queue: .latest)
        async let reason = capturer.run()
        await gate.someoneWaits()
        // The source does not wait for its sinks: it runs to its end while the sink holds its first frame.
        await Waiting.until { capturer.statistics.captured >= 200 }
        gate.open()
        #expect(try await reason == .endOfStream)
        let statistics = capturer.statistics
        #expect(log.frames.last?.sequence == 199)
        #expect(statistics.captured == 200)
        #expect(statistics.converted == statistics.delivered)
        #expect(statistics.delivered == UInt64(log.frames.count))
        #expect(statistics.drops == [.superseded: 200 - statistics.delivered])
    }

    @Test("A sink that throws is detached with its error, and the others get every frame")
    func throwingSink() async throws {
        var behavior = RecordingSink.Behavior()
        behavior.frameError = (index: 3, error: InletError(.resourceExhausted, "The disk is full."))
        let capturer = Capturer(scripted(.frames(50)))
        let (bad, good) = (RecordingSink.Log(), RecordingSink.Log())
        capturer.attach(RecordingSink(behavior, log: bad), named: "bad")
        capturer.attach(RecordingSink(log: good), named: "good")
        let events = capturer.events
        #expect(try await capturer.run() == .endOfStream)
        #expect(good.frames.count == 50)
        #expect(bad.frames.count == 3 && bad.isFinished)
        var failures: [String] = []
        for await event in events {
            if case .sinkEnded(_, let name, let error?) = event { failures.append("\(name) \(error.code)") }
        }
        #expect(failures == ["bad resourceExhausted"])
    }

    @Test("A stuck sink blocks neither the source nor another sink, and a stop abandons it with an error that names it")
    func stuckSink() async throws {
        let gate = Gate()
        var behavior = RecordingSink.Behavior()
        behavior.gate = gate
        var configuration = CapturerConfiguration()
        configuration.stopTimeout = .seconds(2)
        configuration.timeouts.nextFrame = .seconds(600)
        let clock = ManualClock()
        let capturer = Capturer(scripted(.frames(50) + [.hang]), configuration: configuration, clock: clock)
        let log = RecordingSink.Log()
        capturer.attach(RecordingSink(behavior), named: "stuck", queue: .latest)
        capturer.attach(RecordingSink(log: log), named: "quick", queue: .lossless())
        let run = Task { try await capturer.run() }
        await log.frames(atLeast: 50)
        capturer.stop()
        #expect(await clock.timer(onQueue: "inlet.sink-deadline") == .seconds(2))
        await Waiting.until { !capturer.statistics.sinks.contains(where: { $0.name == "quick" && $0.isAttached }) }
        clock.advance(by: .seconds(2))
        await #expect {
            _ = try await run.value
        } throws: {
            guard let error = $0 as? InletError else { return false }
            return error.code == .timedOut && error.message.contains("stuck") && !error.message.contains("quick")
        }
        gate.open()
    }

    @Test("Cancelling the task after the source has ended abandons a stuck sink")
    func cancellationWhileSinksFinish() async throws {
        let gate = Gate()
        var behavior = RecordingSink.Behavior()
        behavior.gate = gate
        var configuration = CapturerConfiguration()
        configuration.stopTimeout = .milliseconds(100)
        let source = scripted(.frames(1))
        let clock = ManualClock()
        let capturer = Capturer(source, configuration: configuration, clock: clock)
        capturer.attach(RecordingSink(behavior), named: "stuck")
        let run = Task { try await capturer.run() }
        await gate.someoneWaits()
        await Waiting.until { source.log.count(of: .close) != 0 }
        // The capturer keeps its state until its sinks have finished.
        for _ in 0..<100 {
            if case .ended = capturer.state { Issue.record("ended while a sink has not finished") }
            await Task.yield()
        }
        run.cancel()
        #expect(await clock.timer(onQueue: "inlet.sink-deadline") == .milliseconds(100))
        clock.advance(by: .milliseconds(100))
        await #expect {
            _ = try await run.value
        } throws: { ($0 as? InletError)?.code == .timedOut && "\($0)".contains("stuck") }
        gate.open()
    }

    @Test("Detaching a stuck sink ends with an error that names it")
    func detachStuckSink() async throws {
        let gate = Gate()
        var behavior = RecordingSink.Behavior()
        behavior.gate = gate
        var configuration = CapturerConfiguration()
        configuration.stopTimeout = .seconds(2)
        configuration.timeouts.nextFrame = .seconds(600)
        let clock = ManualClock()
        let capturer = Capturer(scripted(.frames(1) + [.hang]), configuration: configuration, clock: clock)
        let id = capturer.attach(RecordingSink(behavior), named: "stuck")
        async let reason = capturer.run()
        await gate.someoneWaits()
        let detaching = Task { try await capturer.detach(id) }
        #expect(await clock.timer(onQueue: "inlet.sink-deadline") == .seconds(2))
        clock.advance(by: .seconds(2))
        await #expect {
            try await detaching.value
        } throws: { ($0 as? InletError)?.code == .timedOut && "\($0)".contains("stuck") }
        gate.open()
        await Waiting.until { !capturer.statistics.sinks.contains(where: \.isAttached) }
        try await capturer.detach(id)
        capturer.stop()
        #expect(try await reason == .cancelled)
    }

    @Test("Detaching a sink before the run does not end a run that ends without sinks")
    func endsWithoutSinksNotBeforeTheRun() async throws {
        var configuration = CapturerConfiguration()
        configuration.endsWithoutSinks = true
        for attachesAnother in [true, false] {
            let capturer = Capturer(scripted(.frames(20)), configuration: configuration)
            let id = capturer.attach(RecordingSink())
            try await capturer.detach(id)
            if attachesAnother { capturer.attach(RecordingSink()) }
            #expect(try await capturer.run() == .endOfStream)
            #expect(capturer.statistics.delivered == (attachesAnother ? 20 : 0))
        }
    }

    @Test("A capturer that has run holds no frame, no sink pictures and no descriptor")
    func nothingStays() async throws {
        final class Owned: Sendable {
            let buffer = Mutex<Weak?>(nil)
            let descriptor = Mutex<(number: Int32, copy: Int32)>((-1, -1))
            struct Weak { weak var buffer: I420Buffer? }
        }
        let owned = Owned()
        struct Source: FrameSourceConfiguration {
            let owned: Owned
            var redactedURI: String { "owned:" }
            func makeSource() -> any FrameSource { Opened(owned) }
        }
        final class Opened: FrameSource {
            private let owned: Owned
            private var count = 0
            init(_ owned: Owned) { self.owned = owned }
            func open(_ context: SourceContext) throws -> SourceFormat {
                let number = context.wakeUpDescriptor
                owned.descriptor.withLock { $0 = (number, dup(number)) }
                return ScriptedSource.format(pacing: .live)
            }
            func next(_ context: SourceContext) throws -> SourceItem? {
                guard count < 3 else { return nil }
                count += 1
                var draft = try I420Draft(size: ImageSize(width: 64, height: 48))
                draft.fillBlack()
                let buffer = draft.publish()
                owned.buffer.withLock { $0 = Owned.Weak(buffer: buffer) }
                return .frame(SourceFrame(buffer, pts: nil, sequence: UInt64(count)))
            }
            func close() {}
        }
        var configuration = CapturerConfiguration()
        configuration.outage = OutagePolicy(.hold)
        let capturer = Capturer(Source(owned: owned), configuration: configuration)
        capturer.attach(RecordingSink())
        #expect(try await capturer.run() == .endOfStream)
        // The threads of the source and of the sink exit a moment after their last call.
        await Waiting.until { owned.buffer.withLock({ $0?.buffer }) == nil }
        // The copy keeps the identity of the eventfd: another eventfd may get its number, but not its ID.
        let (number, copy) = owned.descriptor.withLock { $0 }
        defer { close(copy) }
        let name = try #require(Self.name(of: copy))
        await Waiting.until { Self.name(of: number) != name }
        withExtendedLifetime(capturer) {}
    }

    /// The kernel's ID of an eventfd, which distinguishes it from a later one with the same number;
    /// `proc_pid_fdinfo(5)`.
    private static func name(of descriptor: Int32) -> String? {
        let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8)
        return text?.split(separator: "\n").first { $0.hasPrefix("eventfd-id") }.map(String.init)
    }

    @Test("A purged pool frees waiting and returning buffers, and can be used again")
    func purge() throws {
        let pool = I420BufferPool(capacity: 2)
        let size = ImageSize(width: 64, height: 48)
        var held: I420Buffer? = try pool.makeBuffer(size: size).publish()
        _ = try pool.makeBuffer(size: size).publish()
        #expect(pool.statistics.idle == 1 && pool.statistics.inUse == 1)
        pool.purge()
        #expect(pool.statistics.idle == 0)
        withExtendedLifetime(held) {}
        held = nil
        #expect(pool.statistics.idle == 0 && pool.statistics.inUse == 0)
        _ = try pool.makeBuffer(size: size).publish()
        #expect(pool.statistics.idle == 1 && pool.statistics.allocations == 3)
    }

    @Test("Counts and delays at the limits of their types do not trap")
    func limitsOfTypes() {
        var statistics = CaptureStatistics()
        statistics.sourceDrops = [.damaged: .max]
        var sink = CaptureStatistics.Sink(id: SinkID(number: 1), name: "")
        sink.drops = [.damaged: 2]
        statistics.sinks = [sink]
        #expect(statistics.drops == [.damaged: 1])

        let context = SourceContext(clock: ManualClock(), logger: Logger(label: "test"))
        for _ in 0..<2 { context.countDrop(.damaged, .max) }
        #expect(context.dropCounts == [.damaged: .max - 1])

        var policy = RetryPolicy()
        policy.firstDelay = .seconds(Int64.max)
        policy.maximumDelay = .seconds(Int64.max)
        var generator = SystemRandomNumberGenerator()
        for hasFullJitter in [true, false] {
            policy.hasFullJitter = hasFullJitter
            #expect(policy.delay(afterFailures: 1000, using: &generator) >= .zero)
        }
    }

    @Test("frames() gives every frame to a lossless loop, and ends with the stream")
    func frames() async throws {
        let capturer = Capturer(scripted(.frames(40)))
        let sequences = try await capturer.run(queue: .lossless(2)) { frames in
            var seen: [UInt64] = []
            for try await frame in frames { seen.append(frame.sequence) }
            return seen
        }
        #expect(sequences == Array(0..<40))
    }

    @Test("Leaving the loop stops the run and closes the source")
    func leaveEarly() async throws {
        let source = scripted(.frames(5) + [.hang])
        let first = try await Capturer(source).run(queue: .lossless(1)) { frames in
            for try await frame in frames { return Optional(frame.sequence) }
            return nil
        }
        #expect(first == 0)
        #expect(source.log.count(of: .close) == 1)
    }

    @Test("A failed source ends the run and the loop with its error")
    func sourceFails() async throws {
        let capturer = Capturer(scripted(.frames(2) + [.fail(InletError(.disconnected, "The cable is out."))]))
        await #expect {
            try await capturer.run(queue: .lossless()) { frames in
                for try await _ in frames {}
            }
        } throws: { ($0 as? InletError)?.code == .disconnected }
        #expect(capturer.statistics.delivered == 2)
    }

    @Test("Cancelling the task stops a source that waits for ever, and the source is closed when run returns")
    func cancellation() async throws {
        let source = scripted(.frames(1) + [.hang])
        let capturer = Capturer(source, configuration: .patient)
        let log = RecordingSink.Log()
        capturer.attach(RecordingSink(log: log))
        let task = Task { try await capturer.run() }
        await log.frames(atLeast: 1)
        task.cancel()
        #expect(try await task.value == .cancelled)
        #expect(source.log.count(of: .close) == 1)
    }

    @Test("Sinks come and go while frames flow, and sinks that want one size share one scaled picture")
    func attachAndDetach() async throws {
        var behavior = RecordingSink.Behavior()
        behavior.keptFrames = 1
        let wants = SinkWants(size: ImageSize(width: 32, height: 32))
        let capturer = Capturer(scripted(.frames(30) + [.hang]), configuration: .patient)
        let (a, b) = (RecordingSink.Log(), RecordingSink.Log())
        let id = capturer.attach(RecordingSink(behavior, log: a), wants: wants)
        capturer.attach(RecordingSink(behavior, log: b), wants: wants)
        async let reason = capturer.run()
        await a.frames(atLeast: 30)
        await b.frames(atLeast: 30)
        #expect(a.keptFrames.last?.buffer === b.keptFrames.last?.buffer)
        #expect(a.frames.allSatisfy { $0.size == ImageSize(width: 32, height: 32) })
        try await capturer.detach(id)
        #expect(a.isFinished && !b.isFinished)
        capturer.stop()
        #expect(try await reason == .cancelled)
        #expect(b.isFinished)
        #expect(capturer.statistics.converted == 30)
    }

    @Test("A capturer runs once")
    func once() async throws {
        let capturer = Capturer(scripted(.frames(1)))
        try await capturer.run()
        await #expect { try await capturer.run() } throws: { ($0 as? InletError)?.code == .invalidConfiguration }
    }

    @Test("Frame and duration limits end the run, and are named as its reason")
    func limits() async throws {
        var configuration = CapturerConfiguration()
        configuration.frameLimit = 5
        let capturer = Capturer(scripted(.frames(10)), configuration: configuration)
        #expect(try await capturer.run() == .frameLimit)
        #expect(capturer.statistics.captured == 5)
    }
}

/// The system's clock in a class, so that tests can see whether it is still referenced.
private final class OwnClock: CaptureClock {
    private let clock = SystemClock()

    var now: MonotonicTime { clock.now }

    func wait(until deadline: MonotonicTime, wakeUpDescriptor: Int32) -> Bool {
        clock.wait(until: deadline, wakeUpDescriptor: wakeUpDescriptor)
    }

    func makeTimer(on queue: DispatchQueue, handler: @escaping @Sendable () -> Void) -> any CaptureTimer {
        clock.makeTimer(on: queue, handler: handler)
    }
}

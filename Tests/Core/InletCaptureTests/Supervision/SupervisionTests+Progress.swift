import Dispatch
import InletCapture
import InletCore
import InletTesting
import ReferenceTools
import Synchronization
import Testing

/// Sources whose data gives few wanted frames, or none. Time advances only while the source waits.
extension SupervisionTests {
    /// Silence, data, silence, data and so on: less than a second of silence each time.
    private static func data(_ count: Int) -> [ScriptedSource.Step] {
        (0..<count).flatMap { _ in
            [.stall(.milliseconds(900)), .perform { $0.reportProgress() }] as [ScriptedSource.Step]
        }
    }

    /// Timeouts of a second, without a retry.
    private static var once: CapturerConfiguration {
        var configuration = quick()
        configuration.timeouts.stall = .seconds(1)
        configuration.retry = .never
        configuration.outage = OutagePolicy(.text, frameRate: Rational(1000))
        return configuration
    }

    @Test("A source with data is alive as long as its sinks want none of its frames")
    func dataBetweenFrames() async throws {
        let source = ScriptedSourceConfiguration(
            Script(format: Self.live, .frames(2) + Self.data(60) + .frames(2)))
        let capturer = Capturer(source, configuration: Self.once, clock: ManualClock(waiting: .movesTime))
        let log = RecordingSink.Log()
        capturer.attach(
            RecordingSink(wants: SinkWants(maximumFrameRate: Rational(1, 20)), log: log), queue: .lossless())
        #expect(try await capturer.run() == .endOfStream)
        let statistics = capturer.statistics
        #expect(statistics.captured == 4)
        #expect(statistics.supervision.openings == 1 && statistics.supervision.stalls == 0)
        #expect(log.frames.allSatisfy { !$0.flags.contains(.placeholder) })
    }

    @Test("A source whose data never gives a wanted frame has three times the time, and no more")
    func dataWithoutFrames() async throws {
        let clock = ManualClock(waiting: .movesTime)
        let source = ScriptedSourceConfiguration(Script(format: Self.live, .frames(1) + Self.data(60) + .frames(1)))
        let capturer = Capturer(source, configuration: Self.once, clock: clock)
        capturer.attach(RecordingSink(log: RecordingSink.Log()), queue: .lossless())
        let start = clock.now
        let error = await #expect(throws: InletError.self) { try await capturer.run() }
        #expect(error?.code == .timedOut)
        #expect(clock.now - start == .seconds(3))
        #expect(capturer.statistics.captured == 1)
    }

    @Test("Data does not extend the deadline of the first frame, however few are wanted")
    func dataBeforeTheFirstFrame() async throws {
        let clock = ManualClock(waiting: .movesTime)
        let source = ScriptedSourceConfiguration(Script(format: Self.live, Self.data(60) + .frames(1)))
        let capturer = Capturer(source, configuration: Self.once, clock: clock)
        capturer.attach(
            RecordingSink(wants: SinkWants(maximumFrameRate: Rational(1, 20)), log: RecordingSink.Log()),
            queue: .lossless())
        let start = clock.now
        let error = await #expect(throws: InletError.self) { try await capturer.run() }
        #expect(error?.code == .timedOut)
        #expect(clock.now - start == .seconds(1))
    }

    @Test("Data ends a stall and its placeholders before any frame does")
    func dataEndsAStall() async throws {
        let (silent, speaking) = (Gate(), Gate())
        let clock = ManualClock(waiting: .movesTime)
        let steps: [ScriptedSource.Step] =
            .frames(2) + [
                .stall(.milliseconds(1500)), .perform { _ in silent.pass() }, .perform { $0.reportProgress() },
                .perform { _ in speaking.pass() },
            ] + .frames(1)
        var configuration = Self.once
        configuration.timeouts.nextFrame = .seconds(60)
        let source = ScriptedSourceConfiguration(Script(format: Self.live, steps))
        let capturer = Capturer(source, configuration: configuration, clock: clock)
        let log = RecordingSink.Log()
        capturer.attach(RecordingSink(log: log), queue: .lossless())
        async let reason = capturer.run()
        await Waiting.until { capturer.state == .stalled }
        silent.open()
        await speaking.someoneWaits()
        await Waiting.until { capturer.state == .live }
        #expect(capturer.statistics.captured == 2)
        let supervision = capturer.statistics.supervision
        #expect(supervision.stalls == 1 && supervision.recoveries == 1 && supervision.openings == 1)
        speaking.open()
        #expect(try await reason == .endOfStream)
        expectIncreasing(log)
    }

    @Test("A source with frames costs the supervisor one check per stall time-out, and only the capturer's clock")
    func looks() async throws {
        let clock = CountingClock()
        let steps = (0..<600).flatMap { _ in [.stall(.milliseconds(100))] + [ScriptedSource.Step].frames(1) }
        let source = ScriptedSourceConfiguration(Script(format: Self.live, steps))
        let capturer = Capturer(source, configuration: Self.once, clock: clock)
        #expect(try await capturer.run() == .endOfStream)
        #expect(capturer.statistics.captured == 600)
        // A minute; each check is a second after the frame that it found newest.
        #expect((58...68).contains(clock.calls.load(ordering: .relaxed)))
    }
}

/// A manual clock that counts the calls of its timers.
private final class CountingClock: CaptureClock {
    let clock = ManualClock(waiting: .movesTime)
    let calls = Atomic(0)
    var now: MonotonicTime { clock.now }

    func wait(until deadline: MonotonicTime, wakeUpDescriptor: Int32) -> Bool {
        clock.wait(until: deadline, wakeUpDescriptor: wakeUpDescriptor)
    }

    func makeTimer(on queue: DispatchQueue, handler: @escaping @Sendable () -> Void) -> any CaptureTimer {
        clock.makeTimer(on: queue) { [weak self] in
            self?.calls.add(1, ordering: .relaxed)
            handler()
        }
    }
}

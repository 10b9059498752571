import InletCapture
import InletCore
import InletTesting
import ReferenceTools
import Testing

/// Sources that ignore their cancellation, and sources that never close.
extension SupervisionTests {
    @Test("A source that ignores its cancellation is abandoned, counted, and known until it returns")
    func abandoned() async throws {
        let source = ScriptedSourceConfiguration([
            Script(format: Self.live, .frames(1) + [.ignoreCancellation(.seconds(2))]),
            Script(format: Self.live, .frames(1) + [.stall(.seconds(3)), .end]),
            Script(format: Self.live, .frames(1)),
        ])
        let clock = ManualClock()
        let capturer = Capturer(
            source, configuration: Self.quick(stopTimeout: .milliseconds(300)), clock: clock)
        capturer.attach(RecordingSink(log: RecordingSink.Log()), queue: .lossless())
        let events = capturer.events
        async let reason = capturer.run()
        await clock.waiters()
        // A second without a frame, the time to state why, and the time to stop.
        await clock.run(for: .milliseconds(1499))
        #expect(capturer.statistics.supervision.abandonments == 0)
        await clock.run(for: .milliseconds(1))
        #expect(capturer.statistics.supervision.abandonments == 1)
        await passDelay(of: capturer, clock)
        await clock.waiters(atLeast: 2)
        #expect(capturer.statistics.supervision.abandonedThreads == 1)
        // The source returns after its two seconds and is no longer counted, while the next one is silent.
        await clock.run(for: .milliseconds(500))
        await Waiting.until { capturer.statistics.supervision.abandonedThreads <= 0 }
        await clock.run(for: .milliseconds(500))
        await passDelay(of: capturer, clock)
        #expect(try await reason == .endOfStream)
        #expect(capturer.statistics.supervision.abandonments == 1)
        #expect(capturer.statistics.supervision.failures == [.timedOut: 2])
        var isTold = false
        for await case .sourceAbandoned in events { isTold = true }
        #expect(isTold)
    }

    @Test("An abandoned source that opens late does not disturb the next one")
    func opensLate() async throws {
        let (opening, going) = (Gate(), Gate())
        let source = ScriptedSourceConfiguration([
            Script(
                format: Self.live,
                opening: [
                    .make { number in
                        opening.pass()
                        return try Self.picture(number)
                    }
                ], .frames(5)),
            Script(
                format: Self.live,
                .frames(1) + [
                    .make { number in
                        going.pass()
                        return try Self.picture(number)
                    }
                ] + .frames(3)),
        ])
        var configuration = Self.quick(stopTimeout: .milliseconds(200))
        configuration.timeouts.open = .milliseconds(200)
        configuration.timeouts.nextFrame = .seconds(60)
        let clock = ManualClock()
        let capturer = Capturer(source, configuration: configuration, clock: clock)
        let log = RecordingSink.Log()
        capturer.attach(RecordingSink(log: log), queue: .lossless())
        async let reason = capturer.run()
        await opening.someoneWaits()
        await clock.run(for: .milliseconds(600))
        await passDelay(of: capturer, clock)
        await going.someoneWaits()
        #expect(capturer.statistics.supervision.abandonments == 1)
        opening.open()
        await Waiting.until { capturer.statistics.supervision.abandonedThreads <= 0 }
        going.open()
        #expect(try await reason == .endOfStream)
        #expect(log.frames.count == 5)
    }

    @Test(
        "A source that hangs while closing is abandoned, with the error that ended it, and opened again",
        arguments: [true, false])
    func closesNever(isHeard: Bool) async throws {
        // A well-behaved source keeps its closing deadline.
        let closing: [ScriptedSource.Step] = [isHeard ? .hang : .ignoreCancellation(.seconds(3))]
        let source = ScriptedSourceConfiguration([
            Script(format: Self.live, closing: closing, .frames(2) + [.fail(Self.gone)]),
            Script(format: Self.live, .frames(2)),
        ])
        let clock = ManualClock()
        let capturer = Capturer(
            source, configuration: Self.quick(stopTimeout: .milliseconds(500)), clock: clock)
        let log = RecordingSink.Log()
        capturer.attach(RecordingSink(log: log), queue: .lossless())
        async let reason = capturer.run()
        await clock.waiters()
        await clock.run(for: .milliseconds(isHeard ? 500 : 700))
        await passDelay(of: capturer, clock)
        #expect(try await reason == .endOfStream)
        #expect(log.frames.count == 4)
        let supervision = capturer.statistics.supervision
        #expect(supervision.failures == [.disconnected: 1])
        #expect(supervision.abandonments == (isHeard ? 0 : 1))
        #expect(supervision.abandonedThreads == (isHeard ? 0 : 1))
        await clock.run(for: .seconds(3))
        await Waiting.until { capturer.statistics.supervision.abandonedThreads <= 0 }
    }

    @Test("A source that ends and hangs while closing ends the run with an error")
    func endsAndClosesNever() async throws {
        let run = await play(
            [Script(format: Self.live, closing: [.ignoreCancellation(.seconds(3))], .frames(2))],
            Self.quick(stopTimeout: .milliseconds(300)))
        #expect { try run.outcome.get() } throws: { ($0 as? InletError)?.code == .timedOut }
        #expect(run.log.frames.count == 2 && run.log.isFinished)
    }
}

import InletCapture
import InletCore
import InletTesting
import Logging
import Testing

/// A capturer kept going on real threads, with sources that fail in every way a script can.
@Suite(.timeLimit(.minutes(2))) struct SupervisionTests {
    typealias Script = ScriptedSource.Script
    static let live = ScriptedSource.format(pacing: .live)
    static let gone = InletError(.disconnected, "The cable is out.")

    /// - Parameter stopTimeout: short where a source that ignores its cancellation is to be given up.
    static func quick(stopTimeout: Duration = .seconds(30)) -> CapturerConfiguration {
        var configuration = CapturerConfiguration()
        configuration.retry.firstDelay = .milliseconds(2)
        configuration.retry.maximumDelay = .milliseconds(10)
        configuration.timeouts.open = .seconds(1)
        configuration.timeouts.firstFrame = .seconds(1)
        configuration.timeouts.nextFrame = .seconds(1)
        configuration.timeouts.stall = .milliseconds(40)
        configuration.stopTimeout = stopTimeout
        configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return configuration
    }

    /// Runs the scripts one after another, the last of which has to end the stream, and tells all that happened.
    func play(
        _ scripts: [Script], _ configuration: CapturerConfiguration = quick()
    ) async -> (
        outcome: Result<EndReason, InletError>, log: RecordingSink.Log, events: [CapturerEvent], capturer: Capturer
    ) {
        let capturer = Capturer(ScriptedSourceConfiguration(scripts), configuration: configuration)
        let log = RecordingSink.Log()
        capturer.attach(RecordingSink(log: log), queue: .lossless())
        let events = capturer.events
        let outcome: Result<EndReason, InletError>
        do throws(InletError) {
            outcome = .success(try await capturer.run())
        } catch {
            outcome = .failure(error)
        }
        var all: [CapturerEvent] = []
        for await event in events { all.append(event) }
        return (outcome, log, all, capturer)
    }

    /// The states in their order, in a word each. Stalls are left out, as a busy machine makes some of its own.
    func states(_ events: [CapturerEvent]) -> [String] {
        var states: [String] = []
        for case .stateChanged(let state) in events where state != .stalled {
            let word = String(state.description.prefix { $0.isLetter })
            if states.last != word { states.append(word) }
        }
        return states
    }

    func expectIncreasing(_ log: RecordingSink.Log) {
        #expect(zip(log.frames, log.frames.dropFirst()).allSatisfy { $0.timestamp < $1.timestamp })
        #expect(zip(log.frames, log.frames.dropFirst()).allSatisfy { $0.sequence < $1.sequence })
    }

    @Test("A source that goes away is opened again, and times and numbers go on")
    func reconnect() async throws {
        let run = await play([
            Script(format: Self.live, .frames(5) + [.fail(Self.gone)]),
            Script(format: Self.live, opening: [.fail(Self.gone)], []),
            Script(format: Self.live, .frames(5)),
        ])
        #expect(try run.outcome.get() == .endOfStream)
        #expect(run.log.frames.map(\.sequence) == Array(0..<10))
        expectIncreasing(run.log)
        #expect(
            states(run.events) == ["opening", "live", "waiting", "opening", "waiting", "opening", "live", "ended"])
        let supervision = run.capturer.statistics.supervision
        #expect(supervision.openings == 3)
        #expect(supervision.failures == [.disconnected: 2])
        #expect(supervision.recoveries == 1)
        #expect(run.capturer.statistics.drops == [:])
    }

    @Test("A source that hangs, in its opening or later, is cancelled, closed and opened again")
    func hangs() async throws {
        let configuration = ScriptedSourceConfiguration([
            Script(format: Self.live, opening: [.hang], []),
            Script(format: Self.live, [.hang]),
            Script(format: Self.live, .frames(3) + [.stall(.seconds(60))]),
            Script(format: Self.live, .frames(2)),
        ])
        let capturer = Capturer(configuration, configuration: Self.quick())
        let log = RecordingSink.Log()
        capturer.attach(RecordingSink(log: log), queue: .lossless())
        #expect(try await capturer.run() == .endOfStream)
        #expect(log.frames.count == 5)
        #expect(configuration.log.count(of: .close) == 4)
        #expect(capturer.statistics.supervision.failures == [.timedOut: 3])
        #expect(capturer.statistics.supervision.abandonments == 0)
    }

    @Test("A stall is a state, and the next frame ends it without a restart")
    func stall() async throws {
        var configuration = Self.quick()
        configuration.timeouts.nextFrame = .seconds(60)
        let run = await play(
            [Script(format: Self.live, .frames(2) + [.stall(.milliseconds(400))] + .frames(2))], configuration)
        #expect(run.events.contains { if case .stateChanged(.stalled) = $0 { true } else { false } })
        #expect(states(run.events) == ["opening", "live", "ended"])
        #expect(run.capturer.statistics.supervision.openings == 1)
        #expect(run.capturer.statistics.supervision.stalls >= 1)
        #expect(run.log.frames.count == 4)
    }

    @Test(
        "A wrong password, a missing file and a bad option end the run at once",
        arguments: [
            InletError.Code.authenticationFailed, .notFound, .invalidConfiguration, .unsupported,
        ])
    func permanent(_ code: InletError.Code) async {
        let run = await play([Script(format: Self.live, opening: [.fail(InletError(code, "No."))], [])])
        #expect(throws: InletError.self) { try run.outcome.get() }
        #expect(run.capturer.statistics.supervision.openings == 1)
        #expect(states(run.events) == ["opening", "failed"])
    }

    @Test("A source that ignores its cancellation is given up, counted, and known until it returns")
    func abandoned() async throws {
        let run = await play(
            [
                Script(format: Self.live, .frames(1) + [.ignoreCancellation(.seconds(2))]),
                Script(format: Self.live, .frames(1) + [.stall(.seconds(3)), .end]),
                Script(format: Self.live, .frames(1)),
            ], Self.quick(stopTimeout: .milliseconds(300)))
        #expect(try run.outcome.get() == .endOfStream)
        #expect(run.capturer.statistics.supervision.abandonments == 1)
        #expect(run.events.contains { if case .sourceAbandoned = $0 { true } else { false } })
        // It comes back within its two seconds and is no longer counted.
        while run.capturer.statistics.supervision.abandonedThreads > 0 { await Task.yield() }
    }

    @Test("A source that was given up and opens after all does not disturb the one that follows")
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
        let capturer = Capturer(source, configuration: configuration)
        let log = RecordingSink.Log()
        capturer.attach(RecordingSink(log: log), queue: .lossless())
        async let reason = capturer.run()
        await going.someoneWaits()
        #expect(capturer.statistics.supervision.abandonments >= 1)
        opening.open()
        while capturer.statistics.supervision.abandonedThreads > 0 { await Task.yield() }
        going.open()
        #expect(try await reason == .endOfStream)
        #expect(log.frames.count == 5)
    }

    static func picture(_ number: UInt64) throws -> SourceFrame {
        var draft = try I420Draft(size: live.size)
        draft.fillBlack()
        return SourceFrame(draft.publish(), pts: nil, sequence: number)
    }

    @Test(
        "A source whose closing hangs is given up, with the error that it ended with, and opened again",
        arguments: [true, false])
    func closesNever(isHeard: Bool) async throws {
        // Well-made, it keeps the deadline of its closing.
        let closing: [ScriptedSource.Step] = [isHeard ? .hang : .ignoreCancellation(.seconds(3))]
        let run = await play(
            [
                Script(format: Self.live, closing: closing, .frames(2) + [.fail(Self.gone)]),
                Script(format: Self.live, .frames(2)),
            ], Self.quick(stopTimeout: .milliseconds(500)))
        #expect(try run.outcome.get() == .endOfStream)
        #expect(run.log.frames.count == 4)
        let supervision = run.capturer.statistics.supervision
        #expect(supervision.failures == [.disconnected: 1])
        if !isHeard { #expect(supervision.abandonments == 1) }
        while run.capturer.statistics.supervision.abandonedThreads > 0 { await Task.yield() }
    }

    @Test("A source that ends and whose closing hangs ends the run with an error")
    func endsAndClosesNever() async throws {
        let run = await play(
            [Script(format: Self.live, closing: [.ignoreCancellation(.seconds(3))], .frames(2))],
            Self.quick(stopTimeout: .milliseconds(300)))
        #expect { try run.outcome.get() } throws: { ($0 as? InletError)?.code == .timedOut }
        #expect(run.log.frames.count == 2 && run.log.isFinished)
    }

    @Test("A pause keeps a source open that can stand still, and closes and opens another", arguments: [true, false])
    func pause(standsStill: Bool) async throws {
        let steps = [ScriptedSource.Step](repeating: .sleep(.milliseconds(1)), count: 100_000).flatMap {
            [$0] + .frames(1)
        }
        let source = ScriptedSourceConfiguration(
            Script(format: Self.live, standsStill: standsStill, steps))
        let capturer = Capturer(source, configuration: Self.quick())
        let log = RecordingSink.Log()
        capturer.attach(RecordingSink(log: log), queue: .lossless())
        let run = Task { try await capturer.run() }
        await log.frames(atLeast: 3)
        capturer.pause()
        while source.log.count(of: .pause) == 0 { await Task.yield() }
        while capturer.state != .paused { await Task.yield() }
        capturer.resume()
        while log.frames.count < 6 { await Task.yield() }
        let before = log.frames.count
        await log.frames(atLeast: before + 5)
        capturer.stop()
        #expect(try await run.value == .cancelled)
        #expect(source.log.count(of: .resume) == (standsStill ? 1 : 0))
        #expect(source.log.count(of: .open) == (standsStill ? 1 : 2))
        #expect(source.log.count(of: .close) == source.log.count(of: .open))
        expectIncreasing(log)
    }

    @Test("After a pause a source whose PTS stood still goes on at the time that it is")
    func pauseOfPTS() async throws {
        let clock = ManualClock()
        let gate = Gate()
        let step = ScriptedSource.Step.make { number in
            gate.pass()
            var frame = try Self.picture(number)
            frame.pts = MediaTime(ticks: Int64(number), timeBase: Rational(1, 30))
            clock.advance(by: .seconds(1) / 30)
            return frame
        }
        // Enough until the pause is heard of.
        let steps = [ScriptedSource.Step](repeating: step, count: 100_000)
        let source = ScriptedSourceConfiguration(
            Script(format: ScriptedSource.format(pacing: .realtime), standsStill: true, steps))
        let capturer = Capturer(source, configuration: Self.quick(), clock: clock)
        let log = RecordingSink.Log()
        capturer.attach(RecordingSink(log: log), queue: .lossless())
        async let reason = capturer.run()
        for count in 1...5 {
            await gate.someoneWaits()
            gate.letThrough()
            await log.frames(atLeast: count)
        }
        capturer.pause()
        while source.log.count(of: .pause) == 0 {
            gate.letThrough()
            await Task.yield()
        }
        let before = source.log.count(of: .next)
        await log.frames(atLeast: before)
        clock.advance(by: .seconds(20))
        let resumed = clock.now
        capturer.resume()
        for count in before + 1...before + 5 {
            await gate.someoneWaits()
            gate.letThrough()
            await log.frames(atLeast: count)
        }
        capturer.stop()
        gate.open()
        _ = try await reason
        #expect(log.frames.dropFirst(before).prefix(5).allSatisfy { $0.timestamp >= resumed })
        expectIncreasing(log)
    }

    @Test("A disabled track delivers nothing while the source goes on, and frames come back at once")
    func disabled() async throws {
        let steps = [ScriptedSource.Step](repeating: .sleep(.milliseconds(1)), count: 100_000).flatMap {
            [$0] + .frames(1)
        }
        let capturer = Capturer(
            ScriptedSourceConfiguration(Script(format: Self.live, steps)), configuration: Self.quick())
        let log = RecordingSink.Log()
        capturer.attach(RecordingSink(log: log), queue: .lossless())
        let run = Task { try await capturer.run() }
        await log.frames(atLeast: 3)
        capturer.setEnabled(false)
        while capturer.state != .disabled { await Task.yield() }
        while (capturer.statistics.drops[.disabled] ?? 0) < 5 { await Task.yield() }
        let count = log.frames.count
        capturer.setEnabled(true)
        await log.frames(atLeast: count + 5)
        capturer.stop()
        _ = try await run.value
        #expect(capturer.state == .ended(.cancelled))
        expectIncreasing(log)
    }

    @Test("An interruption is a state of its own, lasts as long as the source says, and ends with its frames")
    func interruption() async throws {
        let run = await play([
            Script(
                format: Self.live,
                .frames(1) + [.interrupt("the lid is shut"), .sleep(.milliseconds(400))] + .frames(1))
        ])
        #expect(states(run.events) == ["opening", "live", "interrupted", "live", "ended"])
        #expect(run.capturer.statistics.supervision.interruptions == 1)
        #expect(run.capturer.statistics.supervision.openings == 1)
    }

    @Test("A run is given up after the time that was set, with the last failure as its cause")
    func giveUp() async {
        var configuration = Self.quick()
        configuration.timeouts.giveUp = .milliseconds(200)
        let run = await play([Script(format: Self.live, opening: [.fail(Self.gone)], [])], configuration)
        #expect {
            try run.outcome.get()
        } throws: {
            guard let error = $0 as? InletError else { return false }
            return error.code == .timedOut && (error.cause as? InletError)?.code == .disconnected
        }
    }

    @Test("A second run is refused and disturbs nothing; a sink that comes after the end finishes at once")
    func afterTheEnd() async throws {
        let source = ScriptedSourceConfiguration(Script(.frames(3)))
        let capturer = Capturer(source, configuration: Self.quick())
        _ = try await capturer.run { frames in for try await _ in frames {} }
        await #expect {
            try await capturer.run { _ in Issue.record("ran twice") }
        } throws: {
            ($0 as? InletError)?.code == .invalidConfiguration
        }
        let log = RecordingSink.Log()
        let id = capturer.attach(RecordingSink(log: log))
        try await capturer.detach(id)
        for try await _ in capturer.frames() { Issue.record("a frame after the end") }
        #expect(log.frames.isEmpty)
        #expect(source.log.count(of: .open) == 1)
    }

    @Test(
        "A stop in every phase ends the run and closes the source",
        arguments: [
            [ScriptedSource.Step.hang], [.stall(.seconds(60))], [.sleep(.milliseconds(1))] + .frames(1) + [.hang],
            .frames(1) + [.fail(InletError(.disconnected, "The cable is out."))],
        ])
    func stopAnywhere(_ steps: [ScriptedSource.Step]) async throws {
        for opening in [[], [ScriptedSource.Step.hang]] as [[ScriptedSource.Step]] {
            for _ in 0..<20 {
                let source = ScriptedSourceConfiguration(Script(format: Self.live, opening: opening, steps))
                let capturer = Capturer(source, configuration: Self.quick())
                let log = RecordingSink.Log()
                capturer.attach(RecordingSink(log: log))
                async let reason = capturer.run()
                for _ in 0..<Int.random(in: 0...200) { await Task.yield() }
                capturer.stop()
                #expect(try await reason == .cancelled)
                #expect(source.log.count(of: .close) == source.log.count(of: .open))
                #expect(log.frames.isEmpty || log.isFinished)
            }
        }
    }
}

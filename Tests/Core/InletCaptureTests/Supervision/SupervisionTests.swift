import InletCapture
import InletCore
import InletTesting
import Logging
import ReferenceTools
import Synchronization
import Testing

/// A capturer kept running on real threads, with sources that fail in every way a script can. All deadlines are on a
/// manual clock.
@Suite(.timeLimit(.minutes(2))) struct SupervisionTests {
    typealias Script = ScriptedSource.Script
    static let live = ScriptedSource.format(pacing: .live)
    static let gone = InletError(.disconnected, "The cable is out.")

    /// - Parameter stopTimeout: short if a source that ignores its cancellation is to be abandoned.
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

    /// Runs the scripts one after another, and returns all events. The last script must end the stream. Time advances
    /// while a source waits, and between two attempts.
    ///
    /// - Parameter queue: the sink's queue; time does not wait for it.
    func play(
        _ scripts: [Script], _ configuration: CapturerConfiguration = quick(), queue: QueuePolicy = .lossless()
    ) async -> (
        outcome: Result<EndReason, InletError>, log: RecordingSink.Log, events: [CapturerEvent], capturer: Capturer
    ) {
        await play(ScriptedSourceConfiguration(scripts), configuration, queue: queue)
    }

    func play(
        _ source: ScriptedSourceConfiguration, _ configuration: CapturerConfiguration = quick(),
        queue: QueuePolicy = .lossless()
    ) async -> (
        outcome: Result<EndReason, InletError>, log: RecordingSink.Log, events: [CapturerEvent], capturer: Capturer
    ) {
        let clock = ManualClock(waiting: .movesTime)
        let capturer = Capturer(source, configuration: configuration, clock: clock)
        let log = RecordingSink.Log()
        capturer.attach(RecordingSink(log: log), queue: queue)
        let (events, delays) = (capturer.events, capturer.events)
        async let passed: Void = {
            for await case .stateChanged(.waiting(_, let delay)) in delays { await clock.run(for: delay) }
        }()
        let outcome: Result<EndReason, InletError>
        do throws(InletError) {
            outcome = .success(try await capturer.run())
        } catch {
            outcome = .failure(error)
        }
        var all: [CapturerEvent] = []
        for await event in events { all.append(event) }
        await passed
        return (outcome, log, all, capturer)
    }

    /// Lets the delay before the next attempt pass, once there is one.
    func passDelay(of capturer: Capturer, _ clock: ManualClock) async {
        let delay = Mutex<Duration?>(nil)
        await Waiting.until {
            guard case .waiting(_, let next) = capturer.state else { return false }
            delay.withLock { $0 = next }
            return true
        }
        if let delay = delay.withLock({ $0 }) { await clock.run(for: delay) }
    }

    /// The states in order, in a word each.
    func states(_ events: [CapturerEvent]) -> [String] {
        var states: [String] = []
        for case .stateChanged(let state) in events {
            let word = String(state.description.prefix { $0.isLetter })
            if states.last != word { states.append(word) }
        }
        return states
    }

    func expectIncreasing(_ log: RecordingSink.Log) {
        #expect(zip(log.frames, log.frames.dropFirst()).allSatisfy { $0.timestamp < $1.timestamp })
        #expect(zip(log.frames, log.frames.dropFirst()).allSatisfy { $0.sequence < $1.sequence })
    }

    @Test("A source that disappears is opened again, and times and numbers continue")
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

    @Test("A source that hangs while opening or later is cancelled, closed and opened again")
    func hangs() async throws {
        let configuration = ScriptedSourceConfiguration([
            Script(format: Self.live, opening: [.hang], []),
            Script(format: Self.live, [.hang]),
            Script(format: Self.live, .frames(3) + [.stall(.seconds(60))]),
            Script(format: Self.live, .frames(2)),
        ])
        let run = await play(configuration)
        #expect(try run.outcome.get() == .endOfStream)
        #expect(run.log.frames.count == 5)
        #expect(configuration.log.count(of: .close) == 4)
        #expect(run.capturer.statistics.supervision.failures == [.timedOut: 3])
        #expect(run.capturer.statistics.supervision.abandonments == 0)
    }

    @Test("A stall is a state, and the next frame ends it without a restart")
    func stall() async throws {
        var configuration = Self.quick()
        configuration.timeouts.nextFrame = .seconds(60)
        let run = await play(
            [Script(format: Self.live, .frames(2) + [.stall(.milliseconds(400))] + .frames(2))], configuration)
        #expect(states(run.events) == ["opening", "live", "stalled", "live", "ended"])
        #expect(run.capturer.statistics.supervision.openings == 1)
        #expect(run.capturer.statistics.supervision.stalls == 1)
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

    static func picture(_ number: UInt64) throws -> SourceFrame {
        var draft = try I420Draft(size: live.size)
        draft.fillBlack()
        return SourceFrame(draft.publish(), pts: nil, sequence: number)
    }

    @Test("A pause keeps a source open if it can pause, and otherwise replaces it", arguments: [true, false])
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
        await Waiting.until { source.log.count(of: .pause) != 0 }
        await Waiting.until { capturer.state == .paused }
        capturer.resume()
        await Waiting.until { log.frames.count >= 6 }
        let before = log.frames.count
        await log.frames(atLeast: before + 5)
        capturer.stop()
        #expect(try await run.value == .cancelled)
        #expect(source.log.count(of: .resume) == (standsStill ? 1 : 0))
        #expect(source.log.count(of: .open) == (standsStill ? 1 : 2))
        #expect(source.log.count(of: .close) == source.log.count(of: .open))
        expectIncreasing(log)
    }

    @Test("After a pause a source whose PTS did not advance continues at the present time")
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
        // Long enough for the pause to take effect.
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
        await Waiting.until {
            gate.letThrough()
            return source.log.count(of: .pause) != 0
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

    @Test("A disabled track delivers nothing while the source continues, and frames return at once")
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
        await Waiting.until { capturer.state == .disabled }
        await Waiting.until { (capturer.statistics.drops[.disabled] ?? 0) >= 5 }
        let count = log.frames.count
        capturer.setEnabled(true)
        await log.frames(atLeast: count + 5)
        capturer.stop()
        _ = try await run.value
        #expect(capturer.state == .ended(.cancelled))
        expectIncreasing(log)
    }

    @Test("An interruption is a separate state, lasts as long as the source reports it, and ends with its frames")
    func interruption() async throws {
        let run = await play([
            Script(
                format: Self.live,
                .frames(1) + [.interrupt("the lid is shut"), .sleep(.milliseconds(400))] + .frames(1))
        ])
        // The device is back a moment before its first frame.
        #expect(states(run.events) == ["opening", "live", "interrupted", "stalled", "live", "ended"])
        #expect(run.capturer.statistics.supervision.interruptions == 1)
        #expect(run.capturer.statistics.supervision.openings == 1)
    }

    @Test("A run is abandoned after the configured time, with the last failure as its cause")
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

    @Test("A second run is refused and disturbs nothing; a sink attached after the end finishes at once")
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

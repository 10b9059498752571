import InletCore
import Testing

@testable import InletCapture

/// Every input in every state, as a table of the shown state and the actions.
@Suite struct CapturerStateMachineTests {
    private static let disconnected = InletError(.disconnected, "The cable is out.")
    private static let declined = InletError(.declined, "The user said no.")
    static let format = SourceFormat(
        size: ImageSize(width: 64, height: 48), pixelFormat: .yuv420p, frameRate: Rational(30),
        timeBase: Rational(1, 30),
        pacing: .live)

    /// An input, in the words of the table. Sessions are counted from 1.
    enum Step: CustomTestStringConvertible {
        case start, stop, noSinks, pause, resume, disable, enable, unwatch, watch
        case opened(Int), frame(Int), data(Int), paused(Int), interrupt(Int), uninterrupt(Int)
        case ends(Int), fails(Int), failsForGood(Int), closesForPause(Int)
        /// The same event before the source is closed.
        case isEnding(Int), isFailing(Int), isFailingForGood(Int), isClosingForPause(Int)
        /// Time passes while the source is inside an operation with a deadline.
        case silence(Duration)
        /// The same, while data keeps arriving.
        case dataAlone(Duration)
        /// Time passes while the source is inside no operation.
        case time(Duration)

        var testDescription: String { "\(self)" }
    }

    struct Row: CustomTestStringConvertible {
        var steps: [Step]
        var state: CapturerState
        var actions: [String]
        var testDescription: String { "\(steps)" }

        init(_ steps: [Step], _ state: CapturerState, _ actions: [String] = []) {
            (self.steps, self.state, self.actions) = (steps, state, actions)
        }
    }

    static let live: [Step] = [.start, .opened(1), .frame(1)]
    static let waiting: [Step] = live + [.fails(1)]
    static let retry = CapturerState.waiting(attempt: 1, delay: .milliseconds(500))

    /// The last step's actions without events; the rows before check the steps that led there.
    static let table: [Row] = [
        Row([], .idle),
        // From idle.
        Row([.start], .opening, ["open 1"]),
        Row([.stop, .start], .ended(.cancelled), ["finish cancelled"]),
        Row([.pause, .start], .paused),
        Row([.pause, .start, .resume], .opening, ["open 1"]),
        Row([.start, .start], .opening),
        Row([.frame(1)], .idle),
        // From opening.
        Row([.start, .opened(1)], .opening, ["notice 1"]),
        Row([.start, .opened(1), .frame(1)], .live),
        Row([.start, .fails(1)], retry),
        Row([.start, .failsForGood(1)], .ended(nil), ["finish declined"]),
        Row([.start, .stop], .opening, ["cancel 1"]),
        Row([.start, .stop, .ends(1)], .ended(.cancelled), ["finish cancelled"]),
        Row([.start, .stop, .fails(1)], .ended(.cancelled), ["finish cancelled"]),
        Row([.start, .stop, .stop], .opening),
        Row([.start, .pause], .opening),
        Row([.start, .pause, .opened(1)], .paused, ["pause 1"]),
        Row([.start, .pause, .fails(1)], .paused),
        Row([.start, .pause, .fails(1), .resume], .opening, ["open 2"]),
        Row([.start, .silence(.seconds(10))], .opening),
        Row([.start, .silence(.seconds(11))], .opening, ["cancel 1"]),
        Row([.start, .silence(.seconds(11)), .ends(1)], retry),
        Row([.start, .silence(.seconds(11)), .time(.seconds(6))], retry, ["abandon 1"]),
        Row([.start, .opened(2)], .opening),
        // Before the first frame.
        Row([.start, .opened(1), .ends(1)], .ended(.endOfStream), ["finish endOfStream"]),
        Row([.start, .opened(1), .silence(.seconds(11))], .opening, ["cancel 1"]),
        Row([.start, .opened(1), .data(1)], .opening),
        Row([.start, .opened(1), .fails(1)], retry),
        Row([.start, .opened(1), .pause], .paused, ["pause 1"]),
        Row([.start, .opened(1), .interrupt(1)], .interrupted(reason: "lid"), ["notice 1"]),
        // From live.
        Row(live + [.ends(1)], .ended(.endOfStream), ["finish endOfStream"]),
        Row(live + [.fails(1)], retry),
        Row(live + [.failsForGood(1)], .ended(nil), ["finish declined"]),
        Row(live + [.stop], .live, ["cancel 1"]),
        Row(live + [.noSinks, .ends(1)], .ended(.noSinks), ["finish noSinks"]),
        Row(live + [.disable], .disabled),
        // The source has not paused yet, and a stop does not report it as paused.
        Row([.start, .pause, .stop], .opening, ["cancel 1"]),
        Row(live + [.disable, .enable], .live),
        Row(live + [.silence(.milliseconds(900))], .live),
        Row(live + [.silence(.seconds(2))], .stalled, ["notice 1"]),
        Row(live + [.time(.seconds(60))], .live),
        Row(live + [.interrupt(1)], .interrupted(reason: "lid"), ["notice 1"]),
        Row(live + [.interrupt(1), .time(.seconds(600))], .interrupted(reason: "lid")),
        Row(live + [.interrupt(1), .frame(1)], .live),
        Row(live + [.interrupt(1), .uninterrupt(1)], .stalled),
        Row(live + [.interrupt(1), .uninterrupt(1), .frame(1)], .live),
        Row(live + [.interrupt(2)], .live),
        Row(live + [.data(1)], .live),
        Row(live + [.dataAlone(.seconds(30))], .live),
        Row(live + [.dataAlone(.seconds(31))], .live, ["cancel 1"]),
        Row(live + [.dataAlone(.seconds(31)), .fails(1)], retry),
        Row(live + [.opened(1)], .live),
        // From stalled.
        Row(live + [.silence(.seconds(2)), .frame(1)], .live),
        Row(live + [.silence(.seconds(2)), .data(1)], .live),
        Row(live + [.silence(.seconds(2)), .data(2)], .stalled),
        Row(live + [.silence(.seconds(2)), .data(1), .silence(.seconds(2))], .stalled, ["notice 1"]),
        Row(live + [.silence(.seconds(2)), .interrupt(1), .data(1)], .interrupted(reason: "lid")),
        Row(live + [.silence(.seconds(2)), .silence(.seconds(11))], .stalled, ["cancel 1"]),
        Row(live + [.silence(.seconds(11))], .stalled, ["notice 1", "cancel 1"]),
        Row(live + [.silence(.seconds(11)), .ends(1)], retry),
        Row(live + [.silence(.seconds(11)), .frame(1)], .stalled),
        Row(live + [.silence(.seconds(11)), .stop, .ends(1)], .ended(.cancelled), ["finish cancelled"]),
        Row(live + [.silence(.seconds(11)), .pause, .ends(1)], .paused),
        // The pause does not undo the failure.
        Row(live + [.silence(.seconds(11)), .pause, .resume, .ends(1)], retry),
        Row(live + [.silence(.seconds(2)), .pause], .paused, ["pause 1"]),
        Row(live + [.silence(.seconds(2)), .fails(1)], retry),
        // Pauses.
        Row(live + [.pause, .paused(1)], .paused),
        Row(live + [.pause, .paused(1), .resume], .opening, ["notice 1", "resume 1"]),
        Row(live + [.pause, .paused(1), .resume, .frame(1)], .live),
        Row(live + [.pause, .paused(1), .resume, .data(1)], .opening),
        Row(live + [.pause, .paused(1), .data(1)], .paused),
        Row(live + [.pause, .paused(1), .stop], .paused, ["cancel 1"]),
        Row(live + [.pause, .paused(1), .stop, .ends(1)], .ended(.cancelled), ["finish cancelled"]),
        Row(live + [.pause, .paused(1), .time(.seconds(3600))], .paused),
        Row(live + [.pause, .resume], .opening, ["notice 1", "resume 1"]),
        Row(live + [.pause, .closesForPause(1)], .paused),
        Row(live + [.pause, .closesForPause(1), .resume], .opening, ["open 2"]),
        Row(live + [.pause, .closesForPause(1), .stop], .ended(.cancelled), ["finish cancelled"]),
        Row(live + [.pause, .resume, .closesForPause(1)], .opening, ["open 2"]),
        Row(live + [.pause, .silence(.seconds(11))], .paused, ["cancel 1"]),
        Row(live + [.pause, .silence(.seconds(11)), .ends(1)], .paused),
        Row(live + [.pause, .fails(1)], .paused),
        Row(live + [.pause, .fails(1), .resume], .opening, ["open 2"]),
        Row(live + [.pause, .ends(1)], .ended(.endOfStream), ["finish endOfStream"]),
        // From waiting.
        Row(waiting + [.time(.milliseconds(499))], retry),
        Row(waiting + [.time(.milliseconds(500))], .opening, ["open 2"]),
        Row(waiting + [.stop], .ended(.cancelled), ["finish cancelled"]),
        Row(waiting + [.pause], .paused),
        Row(waiting + [.pause, .time(.seconds(60))], .paused),
        Row(waiting + [.pause, .resume], .opening, ["open 2"]),
        Row(waiting + [.time(.milliseconds(500)), .opened(1), .frame(1)], .opening),
        Row(waiting + [.time(.milliseconds(500)), .opened(2), .frame(2)], .live),
        Row(
            waiting + [.time(.milliseconds(500)), .opened(2), .frame(2), .fails(2)],
            .waiting(attempt: 2, delay: .seconds(1))),
        Row(
            waiting + [.time(.milliseconds(500)), .opened(2), .frame(2), .time(.seconds(10)), .fails(2)],
            .waiting(attempt: 1, delay: .milliseconds(500))),
        Row(waiting + [.ends(1)], retry),
        // From the end.
        Row(live + [.ends(1), .resume], .ended(.endOfStream)),
        Row(live + [.ends(1), .stop], .ended(.endOfStream)),
        Row(live + [.ends(1), .pause], .ended(.endOfStream)),
        Row(live + [.ends(1), .start], .ended(.endOfStream)),
        Row(live + [.ends(1), .frame(1)], .ended(.endOfStream)),
        Row(live + [.ends(1), .time(.seconds(3600))], .ended(.endOfStream)),
        // A source that closes without a request, slowly.
        Row(live + [.isEnding(1)], .live),
        Row(live + [.isEnding(1), .ends(1)], .ended(.endOfStream), ["finish endOfStream"]),
        Row(live + [.isEnding(1), .time(.seconds(5))], .live),
        Row(live + [.isEnding(1), .time(.seconds(6))], .ended(nil), ["abandon 1", "finish timedOut"]),
        Row(live + [.isEnding(1), .stop, .ends(1)], .ended(.endOfStream), ["finish endOfStream"]),
        Row(live + [.isFailing(1), .fails(1)], retry),
        Row(live + [.isFailing(1), .isEnding(1), .ends(1)], retry),
        Row(live + [.isFailing(1), .frame(1)], .live),
        Row(live + [.isFailing(1), .silence(.seconds(11))], retry, ["abandon 1"]),
        Row(live + [.isFailing(1), .time(.seconds(6)), .ends(1)], retry),
        Row(live + [.isFailing(1), .stop], .live, ["cancel 1"]),
        Row(live + [.isFailing(1), .stop, .fails(1)], .ended(.cancelled), ["finish cancelled"]),
        Row(live + [.isFailing(1), .stop, .time(.seconds(5))], .ended(nil), ["abandon 1", "finish timedOut"]),
        Row(live + [.isFailing(1), .pause], .paused),
        Row(live + [.isFailing(1), .pause, .fails(1)], .paused),
        Row(live + [.isFailing(1), .pause, .resume, .fails(1)], retry),
        Row(live + [.isFailingForGood(1), .failsForGood(1)], .ended(nil), ["finish declined"]),
        Row(
            live + [.isFailingForGood(1), .time(.seconds(6))], .ended(nil),
            ["abandon 1", "finish declined"]),
        Row(
            live + [.pause, .isFailingForGood(1), .failsForGood(1)], .ended(nil),
            ["finish declined"]),
        Row(live + [.pause, .isClosingForPause(1)], .paused),
        Row(live + [.pause, .isClosingForPause(1), .closesForPause(1)], .paused),
        Row(live + [.pause, .isClosingForPause(1), .resume], .paused),
        Row(live + [.pause, .isClosingForPause(1), .resume, .closesForPause(1)], .opening, ["open 2"]),
        Row(live + [.pause, .isClosingForPause(1), .resume, .pause, .closesForPause(1)], .paused),
        Row(live + [.pause, .isClosingForPause(1), .time(.seconds(6))], .paused, ["abandon 1"]),
        // The deadline of the abandoned session does not apply to the one that follows in the same moment.
        Row(
            live + [.pause, .isClosingForPause(1), .resume, .silence(.seconds(11))], .opening, ["abandon 1", "open 2"]),
        // Sinks that are detached before the run.
        Row([.noSinks, .start], .opening, ["open 1"]),
        // A source that ignores its cancellation.
        Row(live + [.stop, .time(.seconds(5))], .ended(nil), ["abandon 1", "finish timedOut"]),
        Row(live + [.silence(.seconds(11)), .time(.seconds(5)), .frame(1)], retry),
        Row(live + [.silence(.seconds(11)), .time(.seconds(5)), .ends(1)], retry),
    ]

    @Test("Each input leads to the state and the actions of the table", arguments: table)
    func row(_ row: Row) {
        var run = Run()
        var actions: [String] = []
        for step in row.steps { actions = run.play(step) }
        #expect(run.machine.state == row.state)
        #expect(actions == row.actions)
    }

    @Test("A run without a frame for too long is abandoned, whatever its source does")
    func giveUp() {
        var policy = Run.policy
        policy.timeouts.giveUp = .seconds(20)
        var run = Run(policy)
        for step in Self.live + [.silence(.seconds(11)), .ends(1), .time(.seconds(4))] { _ = run.play(step) }
        #expect(run.machine.state == .opening)
        #expect(run.play(.silence(.seconds(6))) == ["cancel 2"])
        #expect(run.play(.ends(2)) == ["finish timedOut"])
        #expect(run.machine.state == .ended(nil))
    }

    @Test("A frame in time cancels the abandonment")
    func giveUpIsReset() {
        var policy = Run.policy
        policy.timeouts.giveUp = .seconds(20)
        var run = Run(policy)
        for _ in 0..<10 {
            for step in [.start, .opened(1), .frame(1), .silence(.seconds(5)), .frame(1), .time(.seconds(30))] as [Step]
            {
                _ = run.play(step)
            }
            #expect(run.machine.state == .live)
        }
    }

    @Test("Credentials that worked are retried after 30 s, then 2 minutes, and after 30 s again once frames arrived")
    func refusedCredentials() {
        let refused = InletError(.authenticationFailed, "The password is wrong.")
        var run = Run()
        for step in Self.live { _ = run.play(step) }
        for (session, seconds) in [(1, 30), (2, 120)] {
            _ = run.handle(.closed(session, .failed(refused)))
            #expect(run.play(.time(.seconds(seconds - 1))) == [])
            #expect(run.play(.time(.seconds(1))) == ["open \(session + 1)"])
        }
        for step in [.opened(3), .frame(3)] as [Step] { _ = run.play(step) }
        #expect(run.machine.state == .live)
        _ = run.handle(.closed(3, .failed(refused)))
        // Neither a pause nor a viewer shortens the wait.
        for step in [.pause, .resume, .time(.seconds(10)), .pause, .time(.seconds(10)), .resume] as [Step] {
            #expect(run.play(step) == [])
        }
        #expect(run.play(.time(.seconds(9))) == [])
        #expect(run.play(.time(.seconds(1))) == ["open 4"])
        // A server may request a longer wait, up to the longest.
        for (asked, session) in [(Duration.seconds(600), 4), (.seconds(Int64.max), 5)] {
            var busy = refused
            busy.retryAfter = asked
            _ = run.handle(.closed(session, .failed(busy)))
            let wait = min(asked, run.machine.policy.retry.maximumRefusedDelay)
            #expect(run.play(.time(wait - .seconds(1))) == [])
            #expect(run.play(.time(.seconds(1))) == ["open \(session + 1)"])
        }
        // Without a frame, the credentials may be wrong from the start.
        var first = Run()
        _ = first.play(.start)
        #expect(first.handle(.closed(1, .failed(refused))) == ["finish authenticationFailed"])
    }

    @Test("Consecutive attempts are limited by the policy, and none is made under never", arguments: [0, 1, 5])
    func limit(_ limit: Int) {
        var policy = Run.policy
        policy.retry.limit = limit
        var run = Run(policy)
        _ = run.play(.start)
        for session in 1...limit + 1 {
            #expect(run.machine.session?.id == session)
            _ = run.play(.fails(session))
            _ = run.play(.time(.seconds(60)))
        }
        #expect(run.machine.state == .ended(nil))
        #expect(run.machine.figures.openings == UInt64(limit + 1))
    }

    @Test("A missing file, and one that failed in the middle, are not reopened; a camera that was live is")
    func whatIsRetried() {
        let missing = InletError(.notFound, "There is no such device.")
        var run = Run()
        _ = run.play(.start)
        #expect(run.handle(.closed(1, .failed(missing))) == ["finish notFound"])

        run = Run()
        for step in Self.live { _ = run.play(step) }
        #expect(run.handle(.closed(1, .failed(missing))) == [])
        #expect(run.machine.state == Self.retry)

        var file = Self.format
        file.pacing = .unpaced
        run = Run()
        _ = run.play(.start)
        _ = run.handle(.opened(1, file))
        _ = run.handle(.frame(1))
        #expect(run.handle(.closed(1, .failed(Self.disconnected))) == ["finish disconnected"])
    }

    @Test("Threads that ignore their cancellation are counted, and too many of them end the run")
    func abandoned() {
        var run = Run()
        _ = run.play(.start)
        for session in 1...4 {
            _ = run.play(.silence(.seconds(11)))
            _ = run.play(.time(.seconds(5)))
            #expect(run.machine.figures.abandonedThreads == session)
            _ = run.play(.time(.seconds(30)))
        }
        #expect(run.machine.state == .ended(nil))
        // One thread returns after all.
        _ = run.play(.ends(2))
        #expect(run.machine.figures.abandonedThreads == 3)
        #expect(run.machine.figures.abandonments == 4)
    }

    /// A machine, its time, and the words that describe its state.
    struct Run {
        var machine: CapturerStateMachine
        var now = MonotonicTime(nanoseconds: 1_000_000_000_000)

        static var policy: CapturerStateMachine.Policy {
            var policy = CapturerStateMachine.Policy()
            policy.retry.hasFullJitter = false
            return policy
        }

        init(_ policy: CapturerStateMachine.Policy = Run.policy) { machine = CapturerStateMachine(policy) }

        mutating func handle(_ input: CapturerStateMachine.Input) -> [String] {
            machine.handle(input, at: now).compactMap(\.word)
        }

        mutating func play(_ step: Step) -> [String] {
            switch step {
            case .start: return handle(.start)
            case .stop: return handle(.stop(.cancelled))
            case .noSinks: return handle(.stop(.noSinks))
            case .pause: return handle(.pause)
            case .resume: return handle(.resume)
            case .disable: return handle(.setEnabled(false))
            case .enable: return handle(.setEnabled(true))
            case .unwatch: return handle(.watched(false))
            case .watch: return handle(.watched(true))
            case .opened(let id): return handle(.opened(id, format))
            case .frame(let id): return handle(.frame(id))
            case .data(let id): return handle(.progress(id))
            case .paused(let id): return handle(.paused(id))
            case .interrupt(let id): return handle(.interruption(id, "lid"))
            case .uninterrupt(let id): return handle(.interruption(id, nil))
            case .ends(let id): return handle(.closed(id, .ended(.endOfStream)))
            case .fails(let id): return handle(.closed(id, .failed(disconnected)))
            case .failsForGood(let id): return handle(.closed(id, .failed(declined)))
            case .closesForPause(let id): return handle(.closed(id, .closedForPause))
            case .isEnding(let id): return handle(.closing(id, .ended(.endOfStream)))
            case .isFailing(let id): return handle(.closing(id, .failed(disconnected)))
            case .isFailingForGood(let id): return handle(.closing(id, .failed(declined)))
            case .isClosingForPause(let id): return handle(.closing(id, .closedForPause))
            case .silence(let duration):
                let operation = SourceOperation(deadline: now + .seconds(10), quietSince: now)
                now = now + duration
                return handle(.tick(operation))
            case .dataAlone(let duration):
                let deadline = now + .seconds(30)
                now = now + duration
                return handle(.tick(SourceOperation(deadline: deadline, quietSince: now)))
            case .time(let duration):
                now = now + duration
                return handle(.tick(nil))
            }
        }
    }
}

extension CapturerStateMachine.Action {
    /// The action in a word; nil if it is only reported.
    var word: String? {
        switch self {
        case .open(let id): "open \(id)"
        case .cancel(let id): "cancel \(id)"
        case .pause(let id): "pause \(id)"
        case .resume(let id): "resume \(id)"
        case .abandon(let id): "abandon \(id)"
        case .noticeNextFrame(let id): "notice \(id)"
        case .tell: nil
        case .finish(.success(let reason)): "finish \(reason)"
        case .finish(.failure(let error)): "finish \(error.code)"
        }
    }
}

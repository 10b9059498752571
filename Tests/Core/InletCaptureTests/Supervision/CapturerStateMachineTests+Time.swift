import InletCore
import Testing

@testable import InletCapture

/// Transitions that time causes: deadlines, stalls and the time of the next check.
extension CapturerStateMachineTests {
    @Test("A source of one frame in ten seconds has time for three of them")
    func slowSource() {
        var slow = Self.format
        slow.frameRate = Rational(1, 10)
        var run = Run()
        _ = run.play(.start)
        _ = run.handle(.opened(1, slow))
        _ = run.handle(.frame(1))
        // Its operation may take 30 seconds.
        let operation = SourceOperation(deadline: run.now + .seconds(30), quietSince: run.now)
        run.now = run.now + .seconds(29)
        #expect(run.handle(.tick(operation)) == [])
        #expect(run.machine.state == .live)
        run.now = run.now + .seconds(2)
        #expect(run.handle(.tick(operation)) == ["notice 1", "cancel 1"])
    }

    @Test("The error states whether nothing arrived in time, or no frame although there was data")
    func messages() throws {
        for (quiet, message) in [(Duration.seconds(40), "no frame for"), (.zero, "sends data")] {
            var run = Run()
            for step in Self.live { _ = run.play(step) }
            let operation = SourceOperation(
                deadline: run.now + .seconds(30), quietSince: run.now + .seconds(40) - quiet)
            run.now = run.now + .seconds(40)
            _ = run.handle(.tick(operation))
            _ = run.play(.ends(1))
            let failure = try #require(run.machine.figures.lastFailure)
            #expect(failure.code == .timedOut && failure.message.contains(message), "\(failure)")
        }
    }

    @Test("A source is restarted at its deadline, even if a stall would be reported later")
    func restartBeforeStall() {
        var policy = Run.policy
        policy.timeouts.stall = .seconds(10)
        policy.timeouts.nextFrame = .seconds(1)
        var run = Run(policy)
        for step in Self.live { _ = run.play(step) }
        let operation = SourceOperation(deadline: run.now + .seconds(1), quietSince: run.now)
        let overdue = operation.deadline + CapturerStateMachine.grace
        #expect(run.machine.nextTick(at: run.now, operation: operation) == overdue)
        run.now = overdue
        #expect(run.handle(.tick(operation)) == ["cancel 1"])
    }

    @Test("A source interrupted beyond its deadline is checked occasionally, not continuously")
    func interruptedBeyondDeadline() throws {
        for steps in [Self.live, [.start, .opened(1)], Self.live + [.silence(.seconds(2))]] as [[Step]] {
            var run = Run()
            for step in steps + [.interrupt(1)] { _ = run.play(step) }
            let operation = SourceOperation(deadline: run.now + .seconds(1), quietSince: run.now)
            run.now = run.now + .seconds(60)
            let next = try #require(run.machine.nextTick(at: run.now, operation: operation))
            #expect(next >= run.now + .seconds(1), "\(steps)")
        }
    }

    @Test("The state opening is reported before the source opens, also when it opens again")
    func opensOnceReported() throws {
        var run = Run()
        for input in [CapturerStateMachine.Input.start, .tick(nil)] {
            let actions = run.machine.handle(input, at: run.now)
            let report = try #require(
                actions.firstIndex { if case .tell(.stateChanged(.opening)) = $0 { true } else { false } })
            let opening = try #require(actions.firstIndex { if case .open = $0 { true } else { false } })
            #expect(report < opening)
            for step in Self.waiting.dropFirst() { _ = run.play(step) }
            run.now = run.now + .milliseconds(500)
        }
    }
}

import InletCore
import Testing

@testable import InletCapture

/// The definitions of health and outage, and the picture shown meanwhile.
extension CapturerStateMachineTests {
    @Test("Only continuous frames count as health: a stall, an interruption or a pause after them does not")
    func health() {
        let breaks: [[Step]] = [
            [.silence(.seconds(2)), .silence(.seconds(30))],
            [.time(.seconds(9)), .interrupt(2), .time(.seconds(60)), .fails(2)],
            [.time(.seconds(9)), .interrupt(2), .time(.seconds(60)), .uninterrupt(2), .frame(2), .fails(2)],
            [.time(.seconds(9)), .pause, .paused(2), .time(.seconds(60)), .resume, .frame(2), .fails(2)],
        ]
        for steps in breaks {
            var run = Run()
            for step in Self.waiting + [.time(.milliseconds(500)), .opened(2), .frame(2)] + steps + [.ends(2)] {
                _ = run.play(step)
            }
            #expect(run.machine.state == .waiting(attempt: 2, delay: .seconds(1)), "after \(steps)")
        }
        // Ten seconds of frames before any of these are enough.
        var run = Run()
        let healthy: [Step] = [.time(.seconds(10)), .interrupt(2), .time(.seconds(1)), .fails(2)]
        for step in Self.waiting + [.time(.milliseconds(500)), .opened(2), .frame(2)] + healthy { _ = run.play(step) }
        #expect(run.machine.state == Self.retry)
    }

    @Test("The time of a pause is no outage, and the first frame after it no recovery")
    func pausesAreNoOutage() {
        var run = Run()
        for step in Self.live + [.pause, .paused(1), .time(.seconds(3600)), .resume, .time(.seconds(1)), .frame(1)] {
            _ = run.play(step)
        }
        #expect(run.machine.state == .live)
        #expect(run.machine.figures.recoveries == 0 && run.machine.figures.outage == .zero)

        run = Run()
        for step in Self.waiting + [.pause, .time(.seconds(3600)), .stop] { _ = run.play(step) }
        #expect(run.machine.figures.outage == .zero)

        run = Run()
        for step in Self.live + [.silence(.seconds(2)), .pause, .paused(1), .time(.seconds(3600)), .stop, .ends(1)] {
            _ = run.play(step)
        }
        #expect(run.machine.figures.outage == .seconds(2))

        // A failure after the pause is an outage from the end of the pause on.
        run = Run()
        for step in Self.live + [.pause, .closesForPause(1), .time(.seconds(3600)), .resume, .time(.seconds(1))] {
            _ = run.play(step)
        }
        for step in [.fails(2), .time(.seconds(1)), .opened(3), .frame(3)] as [Step] { _ = run.play(step) }
        #expect(run.machine.figures.recoveries == 1 && run.machine.figures.outage == .seconds(2))
    }

    @Test(
        "No placeholder is shown before the run, in a pause or after the end, with the track enabled or disabled"
    )
    func placeholder() {
        let nothing: [[Step]] = [
            [.disable], [.disable, .pause, .start], Self.live + [.disable, .pause],
            Self.live + [.disable, .pause, .paused(1)], Self.live + [.disable, .pause, .isClosingForPause(1)],
            Self.live + [.disable, .ends(1)], Self.live, Self.waiting + [.pause], Self.waiting + [.stop],
            Self.live + [.isFailing(1), .pause], Self.live + [.isEnding(1)],
            Self.live + [.disable, .pause, .paused(1), .stop],
        ]
        for steps in nothing {
            var run = Run()
            for step in steps { _ = run.play(step) }
            #expect(run.machine.placeholder == .nothing, "after \(steps)")
        }
        var run = Run()
        for step in Self.live + [.disable] { _ = run.play(step) }
        #expect(run.machine.placeholder == .disabled)
        for step in [.enable, .time(.seconds(1)), .isFailing(1), .time(.seconds(1))] as [Step] { _ = run.play(step) }
        #expect(run.machine.placeholder == .outage(since: run.now - .seconds(1)))
    }
}

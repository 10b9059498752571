import InletCore
import Testing

@testable import InletCapture

/// A source that is closed while it has no viewers.
extension CapturerStateMachineTests {
    private static var policy: CapturerStateMachine.Policy {
        var policy = Run.policy
        policy.closesUnwatchedAfter = .seconds(10)
        return policy
    }

    private static let unwatched = live + [.unwatch, .time(.seconds(10)), .ends(1)]

    static let dormancy: [Row] = [
        Row(live + [.unwatch], .live),
        Row(live + [.unwatch, .time(.milliseconds(9_999))], .live),
        Row(live + [.unwatch, .time(.seconds(10))], .unwatched, ["cancel 1"]),
        Row(live + [.unwatch, .time(.seconds(9)), .unwatch, .time(.seconds(1))], .unwatched, ["cancel 1"]),
        Row(live + [.unwatch, .time(.seconds(9)), .watch, .unwatch, .time(.seconds(9))], .live),
        Row(unwatched, .unwatched),
        Row(unwatched + [.time(.seconds(3600))], .unwatched),
        Row(unwatched + [.watch], .opening, ["open 2"]),
        Row(unwatched + [.watch, .opened(2), .frame(2)], .live),
        // Frames that arrive while the source is being closed are ignored.
        Row(live + [.unwatch, .time(.seconds(10)), .frame(1)], .unwatched),
        Row(live + [.unwatch, .time(.seconds(10)), .watch], .unwatched),
        Row(live + [.unwatch, .time(.seconds(10)), .watch, .ends(1)], .opening, ["open 2"]),
        Row(live + [.unwatch, .time(.seconds(10)), .fails(1)], .unwatched),
        Row(live + [.unwatch, .time(.seconds(10)), .stop, .ends(1)], .ended(.cancelled), ["finish cancelled"]),
        Row(unwatched + [.stop], .ended(.cancelled), ["finish cancelled"]),
        Row(live + [.unwatch, .time(.seconds(10)), .time(.seconds(5))], .unwatched, ["abandon 1"]),
        // The source is not closed before there was a frame, because sinks begin with one.
        Row([.start, .unwatch, .time(.seconds(60))], .opening),
        Row([.start, .unwatch, .opened(1), .time(.seconds(60))], .opening),
        Row([.start, .unwatch, .time(.seconds(60)), .opened(1), .frame(1), .time(.zero)], .unwatched, ["cancel 1"]),
        // A failing source is not retried for ever without viewers.
        Row(live + [.unwatch, .time(.seconds(9)), .fails(1), .time(.milliseconds(499))], retry),
        Row(waiting + [.unwatch, .time(.milliseconds(500)), .fails(2), .time(.seconds(60))], .unwatched),
        Row(live + [.unwatch, .silence(.seconds(9)), .silence(.seconds(1))], .unwatched, ["cancel 1"]),
        // A pause that the application requested continues, with or without viewers.
        Row(live + [.unwatch, .pause, .paused(1), .time(.seconds(60))], .paused),
        Row(unwatched + [.pause], .paused),
        Row(unwatched + [.pause, .watch], .paused),
        Row(unwatched + [.pause, .watch, .resume], .opening, ["open 2"]),
        Row(unwatched + [.pause, .resume], .unwatched),
        Row(unwatched + [.resume], .unwatched),
        Row(unwatched + [.pause, .resume, .watch], .opening, ["open 2"]),
        // A disabled source without viewers.
        Row(live + [.disable, .unwatch, .time(.seconds(10)), .ends(1)], .unwatched),
    ]

    @Test(
        "A live source is closed after a time without viewers, and opened for the next", arguments: dormancy)
    func dormancy(_ row: Row) {
        var run = Run(Self.policy)
        var actions: [String] = []
        for step in row.steps { actions = run.play(step) }
        #expect(run.machine.state == row.state)
        #expect(actions == row.actions)
        if run.machine.isDormant { #expect(run.machine.placeholder == .nothing) }
    }

    @Test("Without the policy a source stays open, and so does a file with it, because it would restart")
    func staysOpen() {
        var run = Run()
        for step in Self.live + [.unwatch, .time(.seconds(3600))] { _ = run.play(step) }
        #expect(run.machine.state == .live)

        var file = Self.format
        file.pacing = .unpaced
        run = Run(Self.policy)
        _ = run.play(.start)
        _ = run.handle(.opened(1, file))
        for step in [.frame(1), .unwatch, .time(.seconds(3600))] as [Step] { _ = run.play(step) }
        #expect(run.machine.state == .live)
        #expect(run.machine.nextTick(at: run.now, operation: nil).map { $0 >= run.now } ?? true)
    }

    @Test("The time without viewers is neither an outage nor health, and the first frame after it no recovery")
    func dormancyIsNoOutage() {
        var run = Run(Self.policy)
        for step in Self.unwatched + [.time(.seconds(3600)), .watch, .time(.seconds(1)), .opened(2), .frame(2)] {
            _ = run.play(step)
        }
        #expect(run.machine.state == .live)
        #expect(run.machine.figures.recoveries == 0 && run.machine.figures.outage == .zero)
        #expect(run.machine.figures.openings == 2)
    }
}

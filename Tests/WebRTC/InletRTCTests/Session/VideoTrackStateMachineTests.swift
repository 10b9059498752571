import InletCore
import InletRTC
import Testing

@Suite struct VideoTrackStateMachineTests {
    static func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    static func running(patience: Duration? = .seconds(30)) -> VideoTrackStateMachine {
        var machine = VideoTrackStateMachine(patience: patience)
        machine.begin()
        return machine
    }

    @Test("No viewer may join before there is a sink, or after it")
    func sink() {
        var machine = VideoTrackStateMachine(patience: nil)
        #expect(machine.state(at: Self.at(0)).shown == .off)
        machine.begin()
        #expect(machine.state(at: Self.at(0)).shown == .live)
        machine.end()
        #expect(machine.state(at: Self.at(0)).shown == .off)
    }

    @Test(
        "The source's state is shown, and live again when it is back",
        arguments: [
            (SourceCondition.live, VideoTrackState.Shown.live), (.interrupted, .muted), (.disabled, .disabled),
            (.paused, .off),
        ])
    func source(_ condition: SourceCondition, _ shown: VideoTrackState.Shown) {
        var machine = Self.running()
        machine.sourceChanged(to: condition, at: Self.at(1))
        #expect(machine.state(at: Self.at(1)).shown == shown)
        machine.sourceChanged(to: .live, at: Self.at(2))
        #expect(machine.state(at: Self.at(2)) == VideoTrackState())
    }

    @Test("A source that is silent for longer than the permitted time counts as off, until it is back")
    func patience() {
        var machine = Self.running()
        machine.sourceChanged(to: .interrupted, at: Self.at(10))
        // A repeated report does not restart the time.
        machine.sourceChanged(to: .interrupted, at: Self.at(20))
        #expect(machine.deadline == Self.at(40))
        #expect(machine.state(at: Self.at(39)).shown == .muted)
        #expect(machine.state(at: Self.at(40)).shown == .off)
        machine.sourceChanged(to: .live, at: Self.at(50))
        #expect(machine.state(at: Self.at(50)).shown == .live)
        #expect(machine.deadline == nil)
    }

    @Test("Without a limit a track stays muted for any time")
    func noLimit() {
        var machine = Self.running(patience: nil)
        machine.sourceChanged(to: .interrupted, at: Self.at(0))
        #expect(machine.deadline == nil)
        #expect(machine.state(at: Self.at(1_000_000)).shown == .muted)
    }

    @Test("The application's setting outlives sinks, and the source's state does not")
    func sinks() {
        var machine = Self.running()
        machine.isEnabled = false
        machine.sourceChanged(to: .interrupted, at: Self.at(0))
        machine.end()
        machine.begin()
        #expect(machine.state(at: Self.at(100)) == VideoTrackState(isEnabled: false))
        machine.isOffered = false
        #expect(machine.state(at: Self.at(100)).shown == .off)
    }
}

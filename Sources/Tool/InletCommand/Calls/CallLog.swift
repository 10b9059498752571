#if GStreamer
import Inlet
import InletSystem

/// The events of the calls of a run. Confined to the task that follows them.
final class CallLog {
    private struct Entry {
        var states: [CallState] = []
        var connectedSince: MonotonicTime?
    }

    private let me: PeerID
    private let habit: CallRun.Habit
    private var entries: [CallID: Entry] = [:]
    private var lastStatus: ExitStatus?
    /// The latest report; nil before the first.
    private(set) var report: CallReport?
    /// An error that belongs to no call.
    var error: InletError?
    var isInterrupted = false

    init(me: PeerID, _ habit: CallRun.Habit) {
        self.me = me
        self.habit = habit
    }

    /// The exit status of the command; nil for success.
    var status: ExitStatus? {
        if isInterrupted { return .interrupted }
        if let error { return ExitStatus(error) }
        return lastStatus == .success ? nil : lastStatus
    }

    func note(_ call: Call) {
        var entry = entries[call.id] ?? Entry()
        switch call.state {
        case .ending, .ended: break
        case .calling, .ringing, .connecting, .connected:
            if entry.states.last != call.state { entry.states.append(call.state) }
        }
        if call.state == .connected { entry.connectedSince = .now }
        entries[call.id] = entry
    }

    func join(_ call: CallID, into other: CallID) {
        let before = entries.removeValue(forKey: call)
        entries[other, default: Entry()].states.insert(contentsOf: before?.states ?? [], at: 0)
    }

    /// Returns the report of an ended call.
    func finish(_ call: Call, sent: UInt64, received: UInt64) -> CallReport {
        let entry = entries.removeValue(forKey: call.id) ?? Entry()
        var end: CallEnd?
        if case .ended(let found) = call.state { end = found }
        let time = entry.connectedSince.map { Double((MonotonicTime.now - $0).wholeNanoseconds) / 1e9 }
        let report = CallReport(
            call: "\(call.id)", me: "\(me)", peer: "\(call.peer)", isOutgoing: call.isOutgoing,
            states: entry.states.map(\.description), ended: end.map(CallReport.End.init), connected: time,
            sent: sent, received: received,
            error: error.map { RunReport.Failure(code: $0.code.description, message: $0.description) })
        lastStatus = end.map { ExitStatus($0, me: me, isIntended: habit.refuses) }
        self.report = report
        return report
    }
}
#endif

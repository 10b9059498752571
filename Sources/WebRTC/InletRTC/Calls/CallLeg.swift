import InletCore

/// One call from one side's view. ``CallStateMachine`` decides its course.
struct CallLeg: Sendable {
    enum Phase: Sendable, Hashable {
        /// This side has invited.
        case calling
        /// The peer has invited, and this side has not decided yet whether it may ring.
        case arriving
        /// The called side rings.
        case ringing
        case connecting
        case connected
        /// This side, which was called, has proposed an end; the caller decides.
        case ending(CallEnd)
        case ended(CallEnd)
    }

    let id: CallID
    let peer: PeerID
    let isCaller: Bool
    var phase: Phase
    /// The time when the phase ends by itself.
    var deadline: MonotonicTime
    /// The time when a ringing call of the caller's is missed.
    var ringingEnd = MonotonicTime.distantFuture
    /// The time when the peer has been away for too long.
    var absenceEnd = MonotonicTime.distantFuture
    /// The message that is repeated until the peer shows that it has arrived; nil without one.
    var pending: CallMessage.Content?
    var nextRepeat = MonotonicTime.distantFuture
    private var repeatInterval = CallPolicy.firstRepeat

    init(_ id: CallID, with peer: PeerID, isCaller: Bool, phase: Phase, until deadline: MonotonicTime) {
        (self.id, self.peer, self.isCaller, self.phase, self.deadline) = (id, peer, isCaller, phase, deadline)
    }

    var isRunning: Bool {
        switch phase {
        case .calling, .arriving, .ringing, .connecting, .connected: true
        case .ending, .ended: false
        }
    }

    var hasMedia: Bool { phase == .connecting || phase == .connected }

    var end: CallEnd? { if case .ended(let end) = phase { end } else { nil } }

    var state: CallState {
        switch phase {
        case .calling: .calling
        // A call that has not been admitted is not shown.
        case .arriving, .ringing: .ringing
        case .connecting: .connecting
        case .connected: .connected
        case .ending: .ending
        case .ended(let end): .ended(end)
        }
    }

    var earliestDeadline: MonotonicTime { min(deadline, ringingEnd, absenceEnd, nextRepeat) }

    /// Begins to repeat a message that is sent now.
    mutating func beginRepeating(_ content: CallMessage.Content, at now: MonotonicTime) {
        (pending, repeatInterval) = (content, CallPolicy.firstRepeat)
        nextRepeat = now + repeatInterval
    }

    mutating func stopRepeating() { (pending, nextRepeat) = (nil, .distantFuture) }

    /// Returns the message to send again now; nil if none is due.
    mutating func takeRepeat(at now: MonotonicTime) -> CallMessage.Content? {
        guard let pending, now >= nextRepeat else { return nil }
        repeatInterval = min(repeatInterval * 2, CallPolicy.longestRepeat)
        nextRepeat = now + repeatInterval
        return pending
    }
}

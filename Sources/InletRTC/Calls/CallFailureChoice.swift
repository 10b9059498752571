package import InletCore

/// Chooses the reason of a call's end among the failures of its two sessions. Holds no clock.
///
/// When one session fails, the other often ends with it, and the peer's do: an end that only says that the peer is gone
/// may come before the one that says why. So such an end waits a moment for a failure that names a cause.
package struct CallFailureChoice: Sendable {
    /// What to do about a failure.
    package enum Verdict: Sendable {
        /// It is the reason.
        case report(InletError)
        /// Wait for another one, and then ask ``timeUp()``.
        case wait
        /// There is a reason already, or one is being waited for.
        case nothing
    }

    /// How long to wait for a cause.
    package static let patience = Duration.seconds(1)
    private var waiting: InletError?
    private var cause: InletError?
    private var isOver = false

    /// Creates a choice without a failure.
    package init() {}

    /// Notes a failure that did not end a session, which tried again.
    package mutating func noteSetback(_ error: InletError) { if Self.namesCause(error) { cause = error } }

    /// Notes that nothing of before counts, as everything is well.
    package mutating func recovered() { cause = nil }

    /// Takes the failure that ended a session.
    package mutating func fail(_ error: InletError) -> Verdict {
        guard !isOver else { return .nothing }
        if let reason = Self.namesCause(error) ? error : cause {
            isOver = true
            return .report(reason)
        }
        guard waiting == nil else { return .nothing }
        waiting = error
        return .wait
    }

    /// Returns the reason when the wait is over; nil if there was one before.
    package mutating func timeUp() -> InletError? {
        guard !isOver, let waiting else { return nil }
        isOver = true
        return waiting
    }

    /// Ends the choice: nothing is a reason any more.
    package mutating func end() { isOver = true }

    /// Whether an error says more than that nothing comes from the peer any more.
    private static func namesCause(_ error: InletError) -> Bool {
        switch error.code {
        case .disconnected, .timedOut, .cancelled, .streamEnded, .sessionLost: false
        default: true
        }
    }
}

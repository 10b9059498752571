package import InletCore

/// Chooses the reason of a call's end among the failures of its two sessions. Holds no clock.
///
/// When one session fails, the other often ends with it, and so do the peer's: an end that only reports that the peer
/// is gone may come before the one with the cause. So such an end waits a moment for a failure that names a cause.
package struct CallFailureChoice: Sendable {
    /// The reaction to a failure.
    package enum Verdict: Sendable {
        /// Report the failure as the reason.
        case report(InletError)
        /// Wait for another one, and then ask ``timeUp()``.
        case wait
        /// A reason was reported already, or is being waited for.
        case nothing
    }

    /// The time to wait for a cause.
    package static let patience = Duration.seconds(1)
    private var waiting: InletError?
    private var cause: InletError?
    private var isOver = false

    /// Creates a choice without a failure.
    package init() {}

    /// Records a failure after which a session tried again.
    package mutating func noteSetback(_ error: InletError) { if Self.namesCause(error) { cause = error } }

    /// Discards earlier failures, because everything works.
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

    /// Returns the reason when the wait is over; nil if one was reported before.
    package mutating func timeUp() -> InletError? {
        guard !isOver, let waiting else { return nil }
        isOver = true
        return waiting
    }

    /// Ends the choice: later failures are no reasons.
    package mutating func end() { isOver = true }

    /// Whether an error contains more than that the peer has fallen silent.
    private static func namesCause(_ error: InletError) -> Bool {
        switch error.code {
        case .disconnected, .timedOut, .cancelled, .streamEnded, .sessionLost: false
        default: true
        }
    }
}

import InletCore
import InletRTC
import Synchronization

/// Counts the sessions of a sink for the capture's statistics. Safe from any thread.
final class SessionLedger: Sendable {
    private let state = Mutex(State())

    private struct State {
        var sessions: [String: PeerSessionState] = [:]
        var opened: UInt64 = 0
        var failure: InletError?
        /// Whether the sink has stated why it failed, so that no other failure is recorded.
        var isSettled = false
        /// The capture of the running sink.
        var context: SinkContext?

        var figures: SinkSessions {
            var figures = SinkSessions()
            figures.open = sessions.values.count { $0 == .connected }
            figures.pending = sessions.count - figures.open
            (figures.opened, figures.failure) = (opened, failure?.message)
            return figures
        }
    }

    /// The current counts.
    var figures: SinkSessions { state.withLock { $0.figures } }

    /// Starts reporting the counts to a capture.
    func begin(_ context: SinkContext) { change { ($0.context, $0.isSettled) = (context, false) } }

    /// Returns the number of sessions that have connected, and the reason why the last attempt failed; nil if none
    /// failed, or if a session has connected since.
    ///
    /// Later failures are not recorded, so that the counts and the sink's own error agree.
    ///
    /// - Parameter isOver: whether the sink ends even if a session has connected.
    func settle(isOver: Bool = true) -> (opened: UInt64, failure: InletError?) {
        state.withLock { state in
            state.isSettled = isOver || state.opened == 0
            return (state.opened, state.failure)
        }
    }

    /// Reports the counts again, because a session has started or stopped using pictures.
    func renew() { change { _ in } }

    /// Records the state of a session.
    func note(_ session: PeerSessionState, of name: String) {
        change { state in
            if session == .connected, state.sessions[name] != .connected {
                state.opened &+= 1
                state.failure = nil
            }
            if case .ended = session { state.sessions[name] = nil } else { state.sessions[name] = session }
        }
    }

    /// Records the reason why an attempt failed.
    func note(_ failure: InletError) {
        change { state in
            if !state.isSettled { state.failure = failure }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        // Reported under the lock, so that the last report is the latest.
        state.withLock { state in
            body(&state)
            state.context?.report(state.figures)
        }
    }
}

import InletCapture
import InletCore
import Logging
import Synchronization

/// Ends a verification early. Safe from any thread.
package final class VerificationStop: Sendable {
    private struct State {
        var isStopped = false
        var context: SourceContext?
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether the verification was stopped.
    package var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Stops the running check, and all that would follow.
    package func stop() {
        state.withLock { state in
            state.isStopped = true
            state.context?.cancel()
        }
    }

    /// Returns the context of the next call, which takes at most `limit`.
    ///
    /// - Throws: ``InletError/Code/cancelled`` if the verification was stopped.
    func context(limit: Duration) throws(InletError) -> SourceContext {
        let silent = Logger(label: "inlet.verify") { _ in SwiftLogNoOpLogHandler() }
        let context = SourceContext(clock: SystemClock(), logger: silent)
        context.setDeadline(after: limit)
        let isStopped = state.withLock { state in
            state.context = context
            return state.isStopped
        }
        guard !isStopped else { throw InletError(.cancelled, "The verification was stopped.") }
        return context
    }
}

import InletCore
import Synchronization

/// Runs one operation at a time for each key, and gives its outcome to all concurrent callers. Safe from any thread.
///
/// The operation has its own task, which the cancellation of a caller does not end: other callers may still be
/// waiting, and a program that is renewing a token may lose it if it is killed. The operation ends by its own
/// deadlines.
final class SharedOutcomes<Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Result<Value, InletError>, Never>

    private struct State {
        /// The callers waiting for each running operation.
        var waiters: [String: [UInt64: Waiter]] = [:]
        var latestID: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The number of waiting callers.
    var waiting: Int { state.withLock { $0.waiters.values.reduce(0) { $0 + $1.count } } }

    /// Returns the outcome of the running operation for a key, or runs the given one.
    ///
    /// - Throws: the error of the operation, and ``InletError/Code/cancelled`` at once if the caller is cancelled.
    func outcome(
        of key: String, _ operation: @escaping @Sendable () async throws(InletError) -> Value
    ) async throws(InletError) -> Value {
        guard !Task.isCancelled else { throw Self.cancelled }
        let id = state.withLock { state in
            state.latestID &+= 1
            return state.latestID
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                let isFirst = state.withLock { state in
                    let isFirst = state.waiters[key] == nil
                    state.waiters[key, default: [:]][id] = waiter
                    return isFirst
                }
                if isFirst { Task { await run(key, operation) } }
                // The handler below may have been called before there was a waiter.
                if Task.isCancelled { leave(key, id) }
            }
        } onCancel: {
            leave(key, id)
        }
        return try outcome.get()
    }

    private func run(_ key: String, _ operation: @Sendable () async throws(InletError) -> Value) async {
        let outcome: Result<Value, InletError>
        do throws(InletError) {
            outcome = .success(try await operation())
        } catch {
            outcome = .failure(error)
        }
        let waiters = state.withLock { $0.waiters.removeValue(forKey: key) }
        for waiter in (waiters ?? [:]).values { waiter.resume(returning: outcome) }
    }

    private func leave(_ key: String, _ id: UInt64) {
        let waiter = state.withLock { $0.waiters[key]?.removeValue(forKey: id) }
        waiter?.resume(returning: .failure(Self.cancelled))
    }

    private static var cancelled: InletError { InletError(.cancelled, "The search for credentials was cancelled.") }
}

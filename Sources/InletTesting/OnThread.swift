import InletSystem

/// Runs a call that blocks on a thread of its own and waits for it, so that it holds up no task: all tasks of a process
/// share as many threads as there are processors.
///
/// - Throws: what the call threw, or ``InletError/Code/resourceExhausted`` where there is no thread for it.
package func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        do {
            try SystemThread.start(named: "test") { continuation.resume(with: Result { try body() }) }
        } catch {
            continuation.resume(throwing: error)
        }
    }
}

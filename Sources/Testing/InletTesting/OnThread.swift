import InletSystem

/// Runs a blocking call on a separate thread and waits for it, so that it blocks no task: all tasks of a process share
/// as many threads as there are processors.
///
/// - Throws: the error of the call, or ``InletError/Code/resourceExhausted`` if the system refuses a thread.
package func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        do {
            try SystemThread.start(named: "test") { continuation.resume(with: Result { try body() }) }
        } catch {
            continuation.resume(throwing: error)
        }
    }
}

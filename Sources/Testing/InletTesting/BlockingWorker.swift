import Dispatch
import Synchronization

/// A thread for calls that may never return, with a limit on how long to wait for them.
struct BlockingWorker: Sendable {
    private let queue = DispatchQueue(label: "conformance")

    /// Runs a call on the worker's thread.
    ///
    /// - Returns: the result, or nil if it took longer than `limit`. Its thread is then lost.
    func run<Value: Sendable>(within limit: Duration, _ call: @escaping @Sendable () -> Value) async -> Value? {
        await withCheckedContinuation { continuation in
            let once = Once(continuation)
            queue.async { once.resume(returning: call()) }
            DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(limit / .nanoseconds(1)))) {
                once.resume(returning: nil)
            }
        }
    }

    /// A continuation that accepts the first of two results.
    private final class Once<Value: Sendable>: Sendable {
        private let continuation: Mutex<CheckedContinuation<Value?, Never>?>

        init(_ continuation: CheckedContinuation<Value?, Never>) { self.continuation = Mutex(continuation) }

        func resume(returning value: Value?) {
            continuation.withLock { continuation in
                defer { continuation = nil }
                return continuation
            }?.resume(returning: value)
        }
    }
}

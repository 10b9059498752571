import Foundation

/// Checks conditions on a thread, once a millisecond while any task waits for one.
///
/// Tests wait for many conditions at once. A timer for each check, or a task that yields, would occupy the threads that
/// the awaited work needs.
final class ConditionPoller: @unchecked Sendable {
    static let shared = ConditionPoller()

    private struct Waiter {
        let condition: @Sendable () -> Bool
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<Bool, Never>
    }

    // All that changes is touched under `lock` only, which is what makes the type Sendable.
    private let lock = NSCondition()
    private var waiters: [Waiter] = []
    private var hasThread = false

    /// Returns whether a condition holds within a time.
    func waits(for condition: @escaping @Sendable () -> Bool, atMost limit: Duration) async -> Bool {
        await withCheckedContinuation { continuation in
            lock.lock()
            defer { lock.unlock() }
            waiters.append(Waiter(condition: condition, deadline: .now + limit, continuation: continuation))
            lock.signal()
            guard !hasThread else { return }
            hasThread = true
            Thread.detachNewThread { self.poll() }
        }
    }

    /// Checks the conditions for as long as this process lives.
    private func poll() {
        while true {
            lock.lock()
            while waiters.isEmpty { lock.wait() }
            let present = waiters
            waiters = []
            lock.unlock()
            var left: [Waiter] = []
            for waiter in present {
                let holds = waiter.condition()
                if holds || ContinuousClock.now > waiter.deadline {
                    waiter.continuation.resume(returning: holds)
                } else {
                    left.append(waiter)
                }
            }
            lock.lock()
            waiters += left
            lock.unlock()
            Thread.sleep(forTimeInterval: 0.001)
        }
    }
}

import Foundation
import Synchronization

/// Checks conditions on a thread, every millisecond while any task waits for one.
///
/// Tests wait for many conditions at once. A timer for each check, or a task that yields, would occupy the threads that
/// the awaited work needs.
final class ConditionPoller: @unchecked Sendable {
    static let shared = ConditionPoller()

    private struct Waiter {
        let condition: @Sendable () -> Bool
        let deadline: ContinuousClock.Instant
        let isCancelled: Flag
        let continuation: CheckedContinuation<Bool, Never>
    }

    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    // `lock` protects all mutable state, so the type is safely Sendable.
    private let lock = NSCondition()
    private var waiters: [Waiter] = []
    private var hasThread = false

    /// Returns whether a condition becomes true within a time. Returns early if the task is cancelled.
    func waits(for condition: @escaping @Sendable () -> Bool, atMost limit: Duration) async -> Bool {
        if condition() { return true }
        let isCancelled = Flag()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                lock.lock()
                defer { lock.unlock() }
                waiters.append(
                    Waiter(
                        condition: condition, deadline: .now + limit, isCancelled: isCancelled,
                        continuation: continuation))
                lock.signal()
                guard !hasThread else { return }
                hasThread = true
                Thread.detachNewThread { self.poll() }
            }
        } onCancel: {
            isCancelled.isSet.store(true, ordering: .relaxed)
        }
    }

    /// Checks the conditions until this process ends.
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
                let isOver = waiter.isCancelled.isSet.load(ordering: .relaxed) || ContinuousClock.now > waiter.deadline
                if holds || isOver {
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

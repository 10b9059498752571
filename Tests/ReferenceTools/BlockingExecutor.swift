import Foundation
public import Testing

/// Runs tasks that block, each on a thread of its own, where Swift's executor has as many threads as there are cores:
/// two tests that wait for a program there would keep all others from going on.
final class BlockingExecutor: TaskExecutor, @unchecked Sendable {
    static let shared = BlockingExecutor()

    // All that changes is touched under `condition` only, which is what makes the type Sendable.
    private let condition = NSCondition()
    private var jobs: [UnownedJob] = []
    private var idleThreads = 0

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.lock()
        defer { condition.unlock() }
        jobs.append(job)
        if jobs.count <= idleThreads {
            condition.signal()
        } else {
            Thread.detachNewThread { self.work() }
        }
    }

    /// Runs jobs, for as long as this process lives.
    private func work() {
        condition.lock()
        while true {
            while jobs.isEmpty {
                idleThreads += 1
                condition.wait()
                idleThreads -= 1
            }
            let job = jobs.removeFirst()
            condition.unlock()
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            condition.lock()
        }
    }
}

/// A trait of suites whose tests block: they run on threads of their own. Those with a ``ConcurrencyLimit`` do without
/// it.
public struct BlockingTrait: SuiteTrait, TestTrait, TestScoping {
    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(BlockingExecutor.shared) { try await function() }
    }
}

extension Trait where Self == BlockingTrait {
    /// The tests block, and run on threads of their own.
    public static var blocking: BlockingTrait { BlockingTrait() }
}

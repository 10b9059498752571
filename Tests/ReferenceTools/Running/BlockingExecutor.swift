import Foundation
public import Testing

/// Runs blocking tasks, each on a separate thread. Swift's executor has one thread per core, so two tests that wait for
/// a program there could block all others.
final class BlockingExecutor: TaskExecutor, @unchecked Sendable {
    static let shared = BlockingExecutor()

    // `condition` protects all mutable state, so the type is safely Sendable.
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

    /// Runs jobs until this process ends.
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

/// A trait for suites whose tests block: it runs them on separate threads. Suites with a ``ConcurrencyLimit`` don't
/// need it.
public struct BlockingTrait: SuiteTrait, TestTrait, TestScoping {
    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(BlockingExecutor.shared) { try await function() }
    }
}

extension Trait where Self == BlockingTrait {
    /// The tests block, so they run on separate threads.
    public static var blocking: BlockingTrait { BlockingTrait() }
}

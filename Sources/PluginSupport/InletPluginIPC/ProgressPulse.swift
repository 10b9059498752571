import InletCore
import InletSystem
import Synchronization

/// Passes a source's progress on, at most ten times a second: a source may report it with every packet.
final class ProgressPulse: Sendable {
    private let report: @Sendable () -> Void
    private let last = Atomic(Int64.min)
    // Weak, because the context holds this object.
    private let context = Mutex(WeakContext())

    private struct WeakContext {
        weak var value: SourceContext?
    }

    private static let interval: Int64 = 100_000_000

    init(_ report: @escaping @Sendable () -> Void) { self.report = report }

    /// Begins to pass on a context's reports.
    func start(_ context: SourceContext) {
        self.context.withLock { $0.value = context }
        context.awaitProgress()
    }

    /// Records progress.
    func beat() {
        let now = MonotonicTime.now.nanoseconds
        let before = last.load(ordering: .relaxed)
        if before == .min || now - before >= Self.interval {
            last.store(now, ordering: .relaxed)
            report()
        }
        context.withLock { $0.value }?.awaitProgress()
    }
}

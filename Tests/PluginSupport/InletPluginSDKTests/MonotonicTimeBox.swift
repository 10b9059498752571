import InletCore
import InletSystem
import Synchronization

/// A time that one thread records for another.
final class MonotonicTimeBox: Sendable {
    private let nanoseconds = Atomic(Int64.min)

    func note() { nanoseconds.store(MonotonicTime.now.nanoseconds, ordering: .sequentiallyConsistent) }
    var time: MonotonicTime { MonotonicTime(nanoseconds: nanoseconds.load(ordering: .sequentiallyConsistent)) }
}

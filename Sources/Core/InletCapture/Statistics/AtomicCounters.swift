import Synchronization

// Unsafe: owns the memory of counters.
/// A fixed number of 64-bit counters that any thread may change and read without a lock.
///
/// Counts wrap rather than trap. Orderings are relaxed unless a method states otherwise: each counter is correct on its
/// own, and readers may see one of them a moment before another.
@safe struct AtomicCounters: ~Copyable, Sendable {
    let count: Int
    // Allocated and initialized in `init`, freed in `deinit`, and touched through atomics only.
    nonisolated(unsafe) private let values: UnsafeMutablePointer<Atomic<UInt64>>

    /// - Parameter initial: the initial value of every counter.
    init(count: Int, initial: UInt64 = 0) {
        self.count = count
        unsafe values = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: count)
        for index in 0..<count { unsafe (values + index).initialize(to: Atomic(initial)) }
    }

    deinit {
        unsafe values.deinitialize(count: count)
        unsafe values.deallocate()
    }

    func add(_ amount: UInt64, at index: Int) {
        precondition(index >= 0 && index < count, "a counter that does not exist")
        _ = unsafe values[index].wrappingAdd(amount, ordering: .relaxed)
    }

    /// Returns the current value. Writes before a ``store(_:at:)`` that is seen here are seen, too.
    func load(at index: Int) -> UInt64 {
        precondition(index >= 0 && index < count, "a counter that does not exist")
        return unsafe values[index].load(ordering: .acquiring)
    }

    /// Sets a counter that has one writer. A thread that loads the value sees everything that the writer wrote before.
    func store(_ value: UInt64, at index: Int) {
        precondition(index >= 0 && index < count, "a counter that does not exist")
        unsafe values[index].store(value, ordering: .releasing)
    }
}

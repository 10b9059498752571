import CLinux
import Glibc
package import InletCore
import Synchronization

// Unsafe: owns the descriptor of a wake-up.
/// A descriptor that becomes readable when raised, for a thread that waits in `poll`.
///
/// An eventfd, raised at most once; it stays readable until it is closed with its owner.
package final class WakeUpSignal: Sendable {
    /// The descriptor to poll for reading.
    package let descriptor: Int32
    private let raised = Atomic(false)

    /// - Throws: ``InletError/Code/resourceExhausted`` if the process has no descriptor left.
    package init() throws(InletError) {
        descriptor = eventfd(0, inlet_eventfd_flags)
        guard descriptor >= 0 else { throw Self.outOfDescriptors() }
    }

    deinit { close(descriptor) }

    /// Makes the descriptor readable. Safe from any thread.
    package func raise() {
        guard !raised.exchange(true, ordering: .relaxed) else { return }
        // An eventfd takes a 64-bit number. A write fails only when the counter is full, and then it is readable.
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    private static func outOfDescriptors() -> InletError {
        InletError(
            .resourceExhausted,
            "No file descriptor is left to wake a thread by. Raise the limit (ulimit -n) or stop some sources.",
            context: .init(operation: "eventfd", nativeCode: errno))
    }
}

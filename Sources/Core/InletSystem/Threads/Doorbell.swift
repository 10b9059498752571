import CLinux
import Glibc
package import InletCore

// Unsafe: owns the descriptor of a wake-up and waits in `poll`.
/// A descriptor by which one thread repeatedly wakes another, which polls: an eventfd.
///
/// Safe from any thread.
package final class Doorbell: Sendable {
    /// The descriptor to poll for reading.
    package let descriptor: Int32

    /// - Throws: ``InletError/Code/resourceExhausted`` if the process has no descriptor left.
    package init() throws(InletError) {
        descriptor = eventfd(0, inlet_eventfd_flags)
        guard descriptor >= 0 else { throw Self.outOfDescriptors() }
    }

    deinit { close(descriptor) }

    /// Makes the descriptor readable.
    package func ring() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Makes the descriptor unreadable until the next ring.
    package func clear() {
        var count: UInt64 = 0
        _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
    }

    /// The reason why a wait ended.
    package enum Event { case rung, cancelled, late }

    /// Waits for a ring until a time.
    ///
    /// - Parameter wakeDescriptor: ends the wait as cancelled when it is readable; -1 for none.
    package func wait(until deadline: MonotonicTime, wakeDescriptor: Int32) -> Event {
        while true {
            let left = max(0, (deadline - .now).wholeNanoseconds)
            var descriptors = (
                pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            )
            let ready = unsafe withUnsafeMutableBytes(of: &descriptors) { bytes in
                let requests = unsafe bytes.baseAddress?.assumingMemoryBound(to: pollfd.self)
                // Whole milliseconds, rounded up: a wait never ends early.
                return unsafe poll(requests, 2, Int32(clamping: left / 1_000_000 + (left > 0 ? 1 : 0)))
            }
            if descriptors.0.revents != 0 { return .cancelled }
            if descriptors.1.revents != 0 { return .rung }
            if ready == 0 { return .late }
        }
    }

    private static func outOfDescriptors() -> InletError {
        InletError(
            .resourceExhausted,
            "No descriptor is left to wake a thread by: \(SystemErrorText.of(errno)). "
                + "Raise the limit (ulimit -n) or stop some sources.",
            context: .init(operation: "eventfd", nativeCode: errno))
    }
}

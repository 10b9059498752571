import CLinux
import Glibc
import InletCore
import InletSystem

/// An eventfd by which one thread tells another, which polls, that an answer is there. It can be used again and again.
final class Doorbell: Sendable {
    /// The descriptor to poll for reading.
    let descriptor: Int32

    /// - Throws: ``InletError/Code/resourceExhausted`` if the process has no descriptor left.
    init() throws(InletError) {
        descriptor = eventfd(0, inlet_eventfd_flags)
        guard descriptor >= 0 else {
            throw InletError(
                .resourceExhausted,
                "No descriptor for a thread of the plug-in: \(SystemErrorText.of(errno)). "
                    + "Raise the limit (ulimit -n) or stop some sources.",
                context: .init(operation: "eventfd", nativeCode: errno))
        }
    }

    deinit { Glibc.close(descriptor) }

    /// Makes the descriptor readable.
    func ring() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Makes the descriptor unreadable until the next ring.
    func clear() {
        var count: UInt64 = 0
        _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
    }

    /// What ended a wait.
    enum Event { case rung, cancelled, late }

    /// Waits for a ring until a time.
    ///
    /// - Parameter wakeDescriptor: ends the wait as cancelled when it is readable; -1 for none.
    func wait(until deadline: MonotonicTime, wakeDescriptor: Int32) -> Event {
        while true {
            let left = max(0, (deadline - .now).wholeNanoseconds)
            var descriptors = (
                pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            )
            var timeout = timespec(tv_sec: Int(left / 1_000_000_000), tv_nsec: Int(left % 1_000_000_000))
            let ready = unsafe withUnsafeMutableBytes(of: &descriptors) { bytes in
                unsafe ppoll(bytes.baseAddress?.assumingMemoryBound(to: pollfd.self), 2, &timeout, nil)
            }
            if descriptors.0.revents != 0 { return .cancelled }
            if descriptors.1.revents != 0 { return .rung }
            if ready == 0 { return .late }
        }
    }
}

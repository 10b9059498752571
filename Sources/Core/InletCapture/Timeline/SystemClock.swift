import CLinux
public import Dispatch
import Glibc
public import InletCore
import InletSystem

// Unsafe: waits in `poll`.
/// The machine's `CLOCK_MONOTONIC`.
public struct SystemClock: CaptureClock {
    public init() {}

    /// The current time, by `clock_gettime`.
    public var now: MonotonicTime { .now }

    /// Sleeps in `poll`, so that a wake-up descriptor can end the sleep.
    public func wait(until deadline: MonotonicTime, wakeUpDescriptor: Int32) -> Bool {
        while true {
            let left = (deadline - now).wholeNanoseconds
            guard left > 0 else { return true }
            // poll ignores a descriptor of -1.
            var descriptor = pollfd(fd: wakeUpDescriptor, events: Int16(POLLIN), revents: 0)
            var timeout = timespec(tv_sec: Int(left / 1_000_000_000), tv_nsec: Int(left % 1_000_000_000))
            let ready = unsafe ppoll(&descriptor, 1, &timeout, nil)
            if ready > 0 { return false }
        }
    }

    /// Makes a timer of the Dispatch library.
    public func makeTimer(on queue: DispatchQueue, handler: @escaping @Sendable () -> Void) -> any CaptureTimer {
        DispatchTimer(on: queue, handler: handler)
    }
}

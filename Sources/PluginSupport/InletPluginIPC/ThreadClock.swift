import CLinux
package import Dispatch
import Glibc
package import InletCore
import InletSystem

// Unsafe: waits in `ppoll`.
/// `CLOCK_MONOTONIC`, which is the clock of all times in `inlet_plugin.h`.
package struct ThreadClock: CaptureClock {
    package init() {}

    package var now: MonotonicTime { .now }

    package func wait(until deadline: MonotonicTime, wakeUpDescriptor: Int32) -> Bool {
        while true {
            let left = (deadline - now).wholeNanoseconds
            guard left > 0 else { return true }
            // ppoll ignores a descriptor of -1.
            var descriptor = pollfd(fd: wakeUpDescriptor, events: Int16(POLLIN), revents: 0)
            var timeout = timespec(tv_sec: Int(left / 1_000_000_000), tv_nsec: Int(left % 1_000_000_000))
            if unsafe ppoll(&descriptor, 1, &timeout, nil) > 0 { return false }
        }
    }

    package func makeTimer(on queue: DispatchQueue, handler: @escaping @Sendable () -> Void) -> any CaptureTimer {
        DispatchTimer(on: queue, handler: handler)
    }
}

import CLinux
import Dispatch
import Glibc
import InletCore
import InletSystem

/// `CLOCK_MONOTONIC`, which is the clock of all times in `inlet_plugin.h`.
struct ThreadClock: CaptureClock {
    var now: MonotonicTime { .now }

    func wait(until deadline: MonotonicTime, wakeUpDescriptor: Int32) -> Bool {
        while true {
            let left = (deadline - now).wholeNanoseconds
            guard left > 0 else { return true }
            // ppoll ignores a descriptor of -1.
            var descriptor = pollfd(fd: wakeUpDescriptor, events: Int16(POLLIN), revents: 0)
            var timeout = timespec(tv_sec: Int(left / 1_000_000_000), tv_nsec: Int(left % 1_000_000_000))
            if unsafe ppoll(&descriptor, 1, &timeout, nil) > 0 { return false }
        }
    }

    func makeTimer(on queue: DispatchQueue, handler: @escaping @Sendable () -> Void) -> any CaptureTimer {
        DispatchTimer(on: queue, handler: handler)
    }
}

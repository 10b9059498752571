import CLinux
import Glibc
import InletCore
import InletSystem

// Unsafe: waits in `poll`.
/// Waiting for descriptors.
enum Descriptors {
    /// Waits until a descriptor is ready or its other end is gone, or until a time of `CLOCK_MONOTONIC`.
    ///
    /// - Parameters:
    ///   - descriptors: at most four. Negative ones are ignored.
    ///   - deadline: in nanoseconds; `Int64.max` for none.
    /// - Returns: the events that `poll` returns for each descriptor.
    @discardableResult
    static func wait(for descriptors: [Int32], _ events: Int16, until deadline: Int64) -> [Int16] {
        var requests = descriptors.map { pollfd(fd: $0, events: events, revents: 0) }
        let (left, overflow) = deadline.subtractingReportingOverflow(MonotonicTime.now.nanoseconds)
        let milliseconds = deadline == .max || overflow ? -1 : Int32(clamping: max(0, left) / 1_000_000 + 1)
        // An interruption by a signal looks like the end of the time: all callers look again.
        _ = unsafe poll(&requests, nfds_t(requests.count), deadline == .max ? -1 : milliseconds)
        return requests.map(\.revents)
    }

    /// Whether a descriptor can be read at once.
    static func isReadable(_ descriptor: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&request, 1, 0) > 0
    }

    /// Whether a time of `CLOCK_MONOTONIC`, in nanoseconds, has passed.
    static func hasPassed(_ deadline: Int64) -> Bool { MonotonicTime.now.nanoseconds >= deadline }
}

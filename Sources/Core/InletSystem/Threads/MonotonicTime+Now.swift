package import Glibc
package import InletCore

// Unsafe: passes a struct to `clock_gettime`.
extension MonotonicTime {
    /// The current time, by `clock_gettime` with `CLOCK_MONOTONIC`.
    ///
    /// For code without a capturer's clock, such as an output or a web server.
    package static var now: MonotonicTime { MonotonicTime(nanoseconds: nanoseconds(of: CLOCK_MONOTONIC)) }

    /// Returns the time of a system clock, in nanoseconds.
    package static func nanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

import Glibc

// Unsafe: passes a struct to `clock_gettime`.
/// This machine's time of day.
package enum HostTime {
    /// Whole seconds since 1970.
    package static var seconds: Int { Int(now / 1_000_000_000) }

    /// Nanoseconds since 1970.
    package static var now: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}

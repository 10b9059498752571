#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A moment as calendar and clock show it.
package struct CalendarTime: Sendable, Hashable {
    /// Whose calendar and clock.
    package enum Zone: Sendable {
        /// The machine's.
        case local
        case utc
    }

    package let year: Int
    package let month: Int
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int
    package let millisecond: Int

    /// - Parameter nanoseconds: since 1970; before it less than zero.
    package init(_ nanoseconds: Int64, in zone: Zone) {
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        var seconds = time_t(remainder < 0 ? quotient - 1 : quotient)
        var fields = unsafe tm()
        switch zone {
        case .local: _ = unsafe localtime_r(&seconds, &fields)
        case .utc: _ = unsafe gmtime_r(&seconds, &fields)
        }
        (year, month, day) = unsafe (Int(fields.tm_year) + 1900, Int(fields.tm_mon) + 1, Int(fields.tm_mday))
        (hour, minute, second) = unsafe (Int(fields.tm_hour), Int(fields.tm_min), Int(fields.tm_sec))
        millisecond = Int((remainder < 0 ? remainder + 1_000_000_000 : remainder) / 1_000_000)
    }
}

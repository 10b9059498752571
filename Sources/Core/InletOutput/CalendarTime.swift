import Glibc

// Unsafe: passes structs to the system's functions for calendar time.
/// A moment in calendar and clock form.
package struct CalendarTime: Sendable, Hashable {
    /// The time zone.
    package enum Zone: Sendable {
        /// The machine's time zone.
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

    /// - Parameter nanoseconds: the time since 1970; negative before it.
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

extension CalendarTime {
    /// Returns the nanoseconds since 1970 of a moment that is written as year, month, day, hour, minute, second and,
    /// optionally, millisecond, without separators; nil if it is not a valid moment, or before 1970.
    package static func nanoseconds(digits: String, in zone: Zone) -> Int64? {
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), [14, 17].contains(digits.utf8.count) else {
            return nil
        }
        func field(_ start: Int, _ count: Int) -> Int32 { Int32(digits.dropFirst(start).prefix(count)) ?? 0 }
        var fields = unsafe tm()
        unsafe (fields.tm_year, fields.tm_mon, fields.tm_mday) = (field(0, 4) - 1900, field(4, 2) - 1, field(6, 2))
        unsafe (fields.tm_hour, fields.tm_min, fields.tm_sec) = (field(8, 2), field(10, 2), field(12, 2))
        // The system determines whether summer time applied.
        unsafe fields.tm_isdst = -1
        let seconds = unsafe zone == .utc ? timegm(&fields) : mktime(&fields)
        // Up to the year 2255, as 64 bits of nanoseconds reach to 2262.
        guard (0...9_000_000_000).contains(seconds) else { return nil }
        let nanoseconds = Int64(seconds) * 1_000_000_000 + Int64(digits.utf8.count == 17 ? field(14, 3) : 0) * 1_000_000
        // An out-of-range value, such as the 31st of February, has become another day.
        let written = CalendarTime(nanoseconds, in: zone)
        let isSame =
            written.year == Int(field(0, 4)) && written.month == Int(field(4, 2))
            && written.day == Int(field(6, 2)) && written.hour == Int(field(8, 2))
            && written.minute == Int(field(10, 2)) && written.second == Int(field(12, 2))
        return isSame ? nanoseconds : nil
    }
}

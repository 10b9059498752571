import InletCore

/// A date and a time of day in UTC, by the Gregorian calendar.
package struct UTCTime: Sendable, Equatable {
    /// Seconds since 1970, without leap seconds.
    package var secondsSince1970: Int64

    package init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

    /// - Returns: nil if there is no such day or time, or the year is not between 1970 and 9999. A leap second counts
    ///   as the next one.
    package init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        guard (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day), (0...23).contains(hour),
            (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        let days = Self.days(year, month, day)
        guard Self.date(days) == (year, month, day) else { return nil }
        secondsSince1970 = Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    }

    /// The time as XML Schema's `dateTime`, such as `2026-03-01T23:59:59Z`. Years are clamped to 1970 to 9999.
    package var text: [UInt8] {
        let seconds = min(max(0, secondsSince1970), 253_402_300_799)
        let (year, month, day) = Self.date(Int(seconds / 86_400))
        let rest = Int(seconds % 86_400)
        func digits(_ number: Int, _ count: Int) -> String {
            let text = "\(number)"
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let date = "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
        return Array("\(date)T\(digits(rest / 3600, 2)):\(digits(rest / 60 % 60, 2)):\(digits(rest % 60, 2))Z".utf8)
    }

    /// The days of 400 years, after which the calendar repeats itself.
    private static let daysOfCycle = 146_097
    /// The days from 1 March of the year 0 to 1970.
    private static let epoch = 719_468

    /// Returns the days from 1970-01-01 to a date, of year 1 or later. Years begin in March, so that leap days end
    /// them.
    static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month > 2 ? year : year - 1
        let (cycle, ofCycle) = (year / 400, year % 400)
        let ofYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return cycle * daysOfCycle + ofCycle * 365 + ofCycle / 4 - ofCycle / 100 + ofYear - epoch
    }

    /// Returns the date of a day since 1970, which is not negative.
    private static func date(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let (cycle, ofCycle) = ((days + epoch) / daysOfCycle, (days + epoch) % daysOfCycle)
        let year = (ofCycle - ofCycle / 1460 + ofCycle / 36_524 - ofCycle / 146_096) / 365
        let ofYear = ofCycle - (365 * year + year / 4 - year / 100)
        let shifted = (5 * ofYear + 2) / 153
        let month = (shifted + 2) % 12 + 1
        return (cycle * 400 + year + (month <= 2 ? 1 : 0), month, ofYear - (153 * shifted + 2) / 5 + 1)
    }
}

import InletCore

/// A time in AWS's form, to the second and in UTC.
struct AWSTime: Sendable, Hashable {
    /// Seconds since 1970.
    let seconds: Int64

    /// The time as `YYYYMMDD'T'HHMMSS'Z'`.
    var text: String { "\(day)T\(time)Z" }
    /// The date as `YYYYMMDD`.
    var day: String {
        let (year, month, day) = civil
        return Self.padded(year, 4) + Self.padded(month, 2) + Self.padded(day, 2)
    }

    private var time: String {
        let second = Int(((seconds % 86_400) + 86_400) % 86_400)
        return [second / 3600, second / 60 % 60, second % 60].map { Self.padded($0, 2) }.joined()
    }

    /// Year, month and day of the proleptic Gregorian calendar.
    private var civil: (Int, Int, Int) {
        let days = (seconds - (((seconds % 86_400) + 86_400) % 86_400)) / 86_400
        // Years that begin in March, in eras of 400: http://howardhinnant.github.io/date_algorithms.html
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        return (
            Int(yearOfEra + era * 400 + (month >= 10 ? 1 : 0)), Int(month < 10 ? month + 3 : month - 9), Int(day)
        )
    }

    /// Parses `YYYY-MM-DDTHH:MM:SS[.fraction](Z|+HH:MM|-HH:MM)`, the form of an expiry; nil for any other text.
    static func parse(_ text: String) -> AWSTime? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            bytes[10] == UInt8(ascii: "T"), bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":")
        else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            let digits = bytes[range]
            guard digits.allSatisfy(\.isASCIIDigit) else { return nil }
            return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        }
        /// Returns the seconds by which a time zone is ahead of UTC.
        func offset(_ zone: ArraySlice<UInt8>) -> Int64? {
            if zone.elementsEqual("Z".utf8) { return 0 }
            let start = zone.startIndex
            guard zone.count == 6, let sign = zone.first, "+-".utf8.contains(sign),
                zone[start + 3] == UInt8(ascii: ":"),
                let hours = number(start + 1..<start + 3), let minutes = number(start + 4..<start + 6), hours < 24,
                minutes < 60
            else { return nil }
            return (hours * 3600 + minutes * 60) * (sign == UInt8(ascii: "-") ? -1 : 1)
        }
        var tail = bytes[19...]
        if tail.first == UInt8(ascii: ".") { tail = tail.dropFirst().drop(while: \.isASCIIDigit) }
        guard let offset = offset(tail), let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13),
            let minute = number(14..<16), let second = number(17..<19), (1...12).contains(month),
            (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        return AWSTime(seconds: days * 86_400 + hour * 3600 + minute * 60 + second - offset)
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

extension CalendarTime {
    /// The moment as text, with milliseconds (RFC 3339): `2026-11-24T09:05:00.250Z`. For moments in UTC.
    package var utcText: String {
        let date = [Self.padded(year, 4), Self.padded(month, 2), Self.padded(day, 2)].joined(separator: "-")
        let time = [hour, minute, second].map { Self.padded($0, 2) }.joined(separator: ":")
        return "\(date)T\(time).\(Self.padded(millisecond, 3))Z"
    }

    /// Returns a number with zeros before it, up to a number of digits.
    static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(max(0, number))
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}

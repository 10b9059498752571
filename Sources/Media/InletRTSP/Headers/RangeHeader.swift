import InletCore

/// The `Range` header of a reply (RFC 2326, section 12.29).
package enum RangeHeader: Sendable, Equatable {
    /// Normal play time in seconds since the beginning; nil means `now` or an open end.
    case normalPlayTime(start: Double?, end: Double?)
    /// Absolute time in nanoseconds since 1970, UTC; nil means an open end.
    case clock(start: Int64, end: Int64?)

    /// Reads the value of the header.
    ///
    /// - Returns: nil if it is neither play time nor absolute time, or wrong.
    package init?(_ value: [UInt8]) {
        guard let first = HeaderText.split(value, at: ";", limit: 8).first,
            let (unit, text) = HeaderText.halves(first, at: "=")
        else { return nil }
        let unitText = TextBytes.trimmed(unit)
        let parts = text.split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
            .map { Array(TextBytes.trimmed($0)) }
        guard let first = parts.first else { return nil }
        let last = parts.count > 1 && !parts[1].isEmpty ? parts[1] : nil
        if TextBytes.isSame(unitText, ignoringCase: "npt") {
            let isNow = TextBytes.isSame(first, ignoringCase: "now")
            let start = Self.playTime(first)
            guard isNow || start != nil || (first.isEmpty && last != nil) else { return nil }
            self = .normalPlayTime(start: start, end: last.flatMap { Self.playTime($0) })
        } else if TextBytes.isSame(unitText, ignoringCase: "clock") {
            guard let start = Self.absoluteTime(first) else { return nil }
            self = .clock(start: start, end: last.flatMap { Self.absoluteTime($0) })
        } else {
            return nil
        }
    }

    /// Returns the seconds of `123.45` or `12:05:35.3` (RFC 2326, section 3.6).
    private static func playTime(_ text: [UInt8]) -> Double? {
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 3 else { return parts.count == 1 ? HeaderText.decimal(text) : nil }
        guard let hours = TextBytes.number(parts[0], upTo: 1_000_000),
            let minutes = TextBytes.number(parts[1], upTo: 59),
            let seconds = HeaderText.decimal(parts[2]), seconds < 60
        else { return nil }
        return Double(hours * 3600 + minutes * 60) + seconds
    }

    /// Returns the time of `19961108T142300.25Z` (RFC 2326, section 3.7) in nanoseconds since 1970.
    private static func absoluteTime(_ text: [UInt8]) -> Int64? {
        guard let (date, rest) = HeaderText.halves(text, at: "T"), date.count == 8 else { return nil }
        let time = rest.prefix { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
        guard rest.count - time.count <= 1, rest[time.endIndex...].allSatisfy({ $0 | 0x20 == UInt8(ascii: "z") }),
            time.prefix(while: \.isASCIIDigit).count == 6, let year = TextBytes.number(date.prefix(4)),
            let month = TextBytes.number(date[4..<6], upTo: 12), let day = TextBytes.number(date[6...], upTo: 31),
            let hour = TextBytes.number(time.prefix(2), upTo: 23),
            let minute = TextBytes.number(time[2..<4], upTo: 59), let second = TextBytes.number(time[4..<6], upTo: 60),
            (1900...2262).contains(year), month > 0, day > 0
        else { return nil }
        var fraction = 0
        if time.count > 6 {
            let digits = time.dropFirst(7).prefix(9)
            guard time[6] == UInt8(ascii: "."), let number = TextBytes.number(digits) else { return nil }
            fraction = (digits.count..<9).reduce(number) { product, _ in product * 10 }
        }
        let seconds = UTCTime.days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflowed) = scaled.addingReportingOverflow(fraction)
        return overflow || overflowed ? nil : Int64(sum)
    }
}

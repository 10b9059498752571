import InletCore

/// The offset by which a device's clock is ahead, from the device's statements.
///
/// Devices check the time in a ``UsernameToken`` against their own clock, but some state another time than that: local
/// time as UTC, or UTC that is off by their time zone. A device may also state local time only.
struct DeviceClock: Sendable, Equatable {
    /// The seconds by which the clock is ahead, as stated.
    var offset: Int64
    /// The seconds if the device states another time than it checks; nil if nothing suggests that.
    var otherOffset: Int64?

    /// No two time zones are farther from UTC, in seconds.
    private static let mostZone: Int64 = 14 * 3600
    /// Time zones are multiples of this, in seconds.
    private static let zoneStep: Int64 = 900
    /// The largest further deviation, in seconds, of a clock that is considered off only by its time zone.
    private static let tolerance: Int64 = 120

    /// A clock that agrees with the time of day here.
    static let same = DeviceClock(offset: 0)

    private init(offset: Int64) { self.offset = offset }

    /// Compares the times of a device with the time of day here, all in seconds since 1970.
    ///
    /// - Parameters:
    ///   - utc: the stated UTC.
    ///   - local: the stated local time.
    ///   - zone: the seconds by which the stated time zone is ahead of UTC.
    /// - Returns: nil if no time is stated.
    init?(utc: Int64?, local: Int64?, zone: Int64?, at time: Int64) {
        let localOffset = local.map { $0 &- time }
        guard let stated = utc.map({ $0 &- time }) ?? localOffset else { return nil }
        let withoutZone = Self.withoutZone(stated)
        if utc != nil {
            offset = stated
            otherOffset = withoutZone ?? localOffset
        } else {
            offset = zone.map { stated &- $0 } ?? withoutZone ?? stated
            otherOffset = stated
        }
        if otherOffset == offset { otherOffset = nil }
    }

    /// Returns an offset without the time zone that it seems to consist of; nil if it consists of something else.
    private static func withoutZone(_ offset: Int64) -> Int64? {
        guard (-mostZone - tolerance...mostZone + tolerance).contains(offset) else { return nil }
        let steps = (offset + (offset < 0 ? -zoneStep : zoneStep) / 2) / zoneStep
        let rest = offset - steps * zoneStep
        return steps != 0 && abs(rest) <= tolerance ? rest : nil
    }
}

extension XMLElement {
    /// Returns the device's clock from `GetSystemDateAndTimeResponse`; nil if the device states no time.
    ///
    /// - Parameter time: the time of day in seconds since 1970.
    func deviceClock(at time: Int64) -> DeviceClock? {
        guard let stated = child("SystemDateAndTime") else { return nil }
        let isSummer = stated.child("DaylightSavings")?.text.elementsEqual("true".utf8) ?? false
        let zone = stated.first("TimeZone", "TZ").flatMap { Self.zone($0.text, isSummer: isSummer) }
        return DeviceClock(
            utc: stated.child("UTCDateTime")?.dateTime, local: stated.child("LocalDateTime")?.dateTime, zone: zone,
            at: time)
    }

    /// The seconds since 1970 from an element of the type `tt:DateTime`.
    private var dateTime: Int64? {
        func number(_ outer: StaticString, _ inner: StaticString) -> Int? {
            first(outer, inner).flatMap { TextBytes.number($0.text) }
        }
        guard let year = number("Date", "Year"), let month = number("Date", "Month"), let day = number("Date", "Day"),
            let hour = number("Time", "Hour"), let minute = number("Time", "Minute"),
            let second = number("Time", "Second")
        else { return nil }
        return UTCTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)?
            .secondsSince1970
    }

    /// Returns the seconds by which a time zone of POSIX (1003.1, section 8.3, `TZ`) is ahead of UTC; nil for another
    /// form.
    ///
    /// - Parameter isSummer: whether daylight saving time holds, if the zone has it.
    private static func zone(_ text: [UInt8], isSummer: Bool) -> Int64? {
        var rest = text[...]
        if rest.first == UInt8(ascii: "<") {
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
            rest = rest[(end + 1)...]
        } else {
            rest = rest.drop(while: \.isASCIILetter)
        }
        // POSIX counts westward: the zone of China is CST-8.
        let isAhead = rest.first == UInt8(ascii: "-")
        if isAhead || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        let numbers = rest.prefix { $0.isASCIIDigit || $0 == UInt8(ascii: ":") }
        let parts = numbers.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count) else { return nil }
        var seconds: Int64 = 0
        for (part, unit) in zip(parts, [3600, 60, 1] as [Int64]) {
            guard part.count <= 2, let number = TextBytes.number(Array(part)) else { return nil }
            seconds += Int64(number) * unit
        }
        guard seconds <= mostZoneSeconds else { return nil }
        let hasSummer = rest.dropFirst(numbers.count).first.map { $0.isASCIILetter || $0 == UInt8(ascii: "<") } ?? false
        return (isAhead ? seconds : -seconds) + (hasSummer && isSummer ? 3600 : 0)
    }

    private static let mostZoneSeconds: Int64 = 24 * 3600
}

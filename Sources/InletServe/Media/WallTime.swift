import InletCore
import InletOutput
import InletSystem

/// Times of day, in nanoseconds since 1970.
enum WallTime {
    /// The time of day now.
    static var now: Int64 { StagedFile.now }

    /// Returns when a packet's picture was taken: by the camera's clock if it tells, or else by this machine's.
    static func of(_ packet: EncodedPacket) -> Int64 {
        packet.wallClock ?? now.subtracting(saturating: (MonotonicTime.now - packet.captureTime).wholeNanoseconds)
    }

    /// Returns a time as text, in UTC and milliseconds (RFC 3339).
    static func text(_ time: Int64) -> String {
        let time = CalendarTime(time, in: .utc)
        func padded(_ number: Int, _ digits: Int) -> String {
            let text = "\(max(0, number))"
            return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
        }
        return "\(padded(time.year, 4))-\(padded(time.month, 2))-\(padded(time.day, 2))T"
            + "\(padded(time.hour, 2)):\(padded(time.minute, 2)):\(padded(time.second, 2)).\(padded(time.millisecond, 3))Z"
    }
}

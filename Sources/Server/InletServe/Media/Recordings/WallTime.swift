import InletCore
import InletOutput
import InletSystem

/// Times of day, in nanoseconds since 1970.
enum WallTime {
    /// The time of day now.
    static var now: Int64 { StagedFile.now }

    /// Returns when a packet's picture was taken: the camera's time if it is known, otherwise this machine's.
    static func of(_ packet: EncodedPacket) -> Int64 {
        packet.wallClock ?? now.subtracting(saturating: (MonotonicTime.now - packet.captureTime).wholeNanoseconds)
    }

    /// Returns a time as text in UTC with milliseconds (RFC 3339).
    static func text(_ time: Int64) -> String { CalendarTime(time, in: .utc).utcText }
}

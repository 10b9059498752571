internal import InletCore

/// A time of day in the format of NTP: seconds since 1900 with 32 bits of fraction, modulo 2^32 seconds (RFC 3550,
/// section 4).
package struct NTPTime: Sendable, Hashable {
    /// The seconds in the upper 32 bits, the fraction in the lower.
    package var value: UInt64

    package init(value: UInt64) { self.value = value }

    /// Makes a time of its two halves, as packets state it.
    package init(seconds: UInt32, fraction: UInt32) { value = UInt64(seconds) << 32 | UInt64(fraction) }

    /// The seconds from 1900 to 1970 (RFC 868).
    private static let secondsTo1970: Int64 = 2_208_988_800
    private static let nanosecondsPerSecond: Int64 = 1_000_000_000

    /// Returns the time in nanoseconds since 1970, rounded to the nearest.
    ///
    /// - Parameter reference: a time of day, in nanoseconds since 1970. The seconds wrap every 136 years, next in 2036;
    ///   of the possible times that nearest to the reference counts.
    package func nanoseconds(near reference: Int64) -> Int64 {
        let fraction = ((value & 0xFFFF_FFFF) &* UInt64(Self.nanosecondsPerSecond) &+ 1 << 31) >> 32
        let referenceSeconds = reference / Self.nanosecondsPerSecond &+ Self.secondsTo1970
        let difference = Int32(truncatingIfNeeded: Int64(value >> 32) &- referenceSeconds)
        let seconds = referenceSeconds &+ Int64(difference) &- Self.secondsTo1970
        return seconds.multiplied(saturatingBy: Self.nanosecondsPerSecond).adding(saturating: Int64(fraction))
    }
}

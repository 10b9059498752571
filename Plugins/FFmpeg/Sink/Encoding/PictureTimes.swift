import InletCore
import InletOutput
import InletSystem

/// The time of day at which pictures were taken: by the source's clock once the source states it, otherwise by the
/// machine's. Pure except for the machine's clocks.
struct PictureTimes {
    /// The source's time of day minus the capture timeline, in nanoseconds, as last stated; nil until then.
    private var offset: Int64?

    /// A picture that is older or newer than this by the capture timeline is not live: if a source plays as fast as it
    /// is read, the timeline does not indicate the time of day.
    private static let longestDelay = Duration.seconds(60)

    /// Records the times of a packet.
    mutating func note(_ packet: EncodedPacket) {
        guard let wallClock = packet.wallClock else { return }
        offset = wallClock.subtracting(saturating: packet.captureTime.nanoseconds)
    }

    /// Returns the time in nanoseconds since 1970 by the source's clock; nil if the source has not stated it.
    func stated(_ packet: EncodedPacket) -> Int64? {
        offset.map { packet.captureTime.nanoseconds.adding(saturating: $0) }
    }

    /// Returns the time in nanoseconds since 1970; nil if only the current time is known.
    func time(of packet: EncodedPacket) -> Int64? {
        if let time = stated(packet) { return time }
        let age = MonotonicTime.now - packet.captureTime
        guard age > .zero, age < Self.longestDelay else { return nil }
        return RecorderTime.now.sinceEpoch.subtracting(saturating: age.wholeNanoseconds)
    }
}

/// A sender's statement of which time of day belongs to which timestamp (RFC 3550, section 6.4.1).
package struct SenderReport: Sendable, Equatable {
    /// The synchronization source of the sender.
    package var ssrc: UInt32
    /// The time of day when the report was sent, by the sender's clock.
    package var time: NTPTime
    /// The same time in ticks of the stream's clock.
    package var timestamp: UInt32
    /// The packets sent since the sender began.
    package var packets: UInt32
    /// The bytes of payload sent since the sender began.
    package var bytes: UInt32

    package init(ssrc: UInt32, time: NTPTime, timestamp: UInt32, packets: UInt32 = 0, bytes: UInt32 = 0) {
        self.ssrc = ssrc
        self.time = time
        self.timestamp = timestamp
        self.packets = packets
        self.bytes = bytes
    }

    /// The middle 32 bits of the time, which receivers send back (RFC 3550, section 6.4.1: LSR).
    package var shortNTPTime: UInt32 { UInt32(truncatingIfNeeded: time.value >> 16) }
}

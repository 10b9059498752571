package import InletCore

/// A receiver's report about one source (RFC 3550, section 6.4.1, report block).
package struct ReceptionReport: Sendable, Equatable {
    /// The source that is reported on.
    package var ssrc: UInt32
    /// The part of the packets lost since the previous report, in 1/256.
    package var fractionLost: UInt8 = 0
    /// The packets lost since the beginning; less than none if duplicates came. It is sent in 24 bits, clamped.
    package var lost: Int32 = 0
    /// The highest sequence number received, with the number of its wraps in the upper 16 bits.
    package var extendedHighestSequence: UInt32 = 0
    /// In ticks of the stream's clock.
    package var jitter: UInt32 = 0
    /// ``SenderReport/shortNTPTime`` of the last report of the source; 0 before the first report.
    package var lastSenderReport: UInt32 = 0
    /// The time since that report arrived, in 1/65536 s; 0 before the first report.
    package var delay: UInt32 = 0

    package init(ssrc: UInt32) { self.ssrc = ssrc }

    /// Returns the time between two instants in 1/65536 s, clamped to 32 bits.
    package static func delay(from start: MonotonicTime, to end: MonotonicTime) -> UInt32 {
        let nanoseconds = Int128(max(0, (end - start).wholeNanoseconds))
        return UInt32(clamping: nanoseconds * 65536 / 1_000_000_000)
    }
}

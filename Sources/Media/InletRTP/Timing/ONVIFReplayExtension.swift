/// The header extension by which ONVIF recorders state the time of each access unit that they play back (ONVIF
/// Streaming Specification, section "RTP header extension" of "Playback").
package struct ONVIFReplayExtension: Sendable, Equatable {
    /// The number of the extension.
    package static let profile: UInt16 = 0xABAC
    /// The size without further extensions.
    package static let size = 12

    /// The time at which the picture was taken.
    package var time: NTPTime
    /// Whether the access unit can be decoded without earlier ones (bit C).
    package var isCleanPoint: Bool
    /// Whether the recording has a gap after the access unit, or ends (bit E).
    package var isEndOfSection: Bool
    /// Whether the access unit does not follow the previous one in time (bit D).
    package var isDiscontinuity: Bool

    /// Reads the extension of a packet.
    ///
    /// - Parameters:
    ///   - header: the packet's header.
    ///   - packet: the packet.
    /// - Returns: nil if the packet has no such extension.
    package init?(_ header: RTPHeader, of packet: RawSpan) {
        guard let (profile, bytes) = header.headerExtension, profile == Self.profile, bytes.count >= Self.size,
            bytes.lowerBound >= 0, bytes.upperBound <= packet.byteCount
        else { return nil }
        let start = bytes.lowerBound
        time = NTPTime(seconds: packet.bigEndian32(at: start), fraction: packet.bigEndian32(at: start + 4))
        let flags = packet[start + 8]
        isCleanPoint = flags & 0x80 != 0
        isEndOfSection = flags & 0x40 != 0
        isDiscontinuity = flags & 0x20 != 0
    }

    /// Returns the extension that may follow within the same header extension, such as that of JPEG: the number that
    /// names its layout, and its bytes. Nil if the packet has no such extension or a truncated one.
    package static func furtherExtension(
        _ header: RTPHeader, of packet: RawSpan
    ) -> (profile: UInt16, bytes: Range<Int>)? {
        guard let (profile, bytes) = header.headerExtension, profile == Self.profile, bytes.lowerBound >= 0,
            bytes.upperBound <= packet.byteCount, bytes.count >= Self.size + 4
        else { return nil }
        let start = bytes.lowerBound + Self.size
        let end = start + 4 + 4 * Int(packet.bigEndian16(at: start + 2))
        guard end <= bytes.upperBound else { return nil }
        return (packet.bigEndian16(at: start), start + 4..<end)
    }
}

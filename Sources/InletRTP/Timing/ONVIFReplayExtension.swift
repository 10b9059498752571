/// The header extension by which ONVIF recorders state the time of each access unit that they play back (ONVIF
/// Streaming Specification, section "RTP header extension" of "Playback").
package struct ONVIFReplayExtension: Sendable, Equatable {
    /// The number of the extension.
    package static let profile: UInt16 = 0xABAC
    /// The size without further extensions.
    package static let size = 12

    /// When the picture was taken.
    package var time: NTPTime
    /// Whether the access unit can be decoded without earlier ones (bit C).
    package var isCleanPoint: Bool
    /// Whether the recording has a gap after the access unit, or ends (bit E).
    package var isEndOfSection: Bool
    /// Whether the access unit does not follow the previous one in time (bit D).
    package var isDiscontinuity: Bool
    /// Whether no more data follows (bit T).
    package var isTerminal: Bool
    /// The lowest byte of the `CSeq` of the PLAY request that the access unit answers.
    package var requestNumber: UInt8

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
        isTerminal = flags & 0x10 != 0
        requestNumber = packet[start + 9]
    }

    /// Returns where the extension of JPEG begins and ends that may follow within the same header extension; nil if the
    /// packet has none.
    package static func furtherExtension(_ header: RTPHeader) -> Range<Int>? {
        guard let (profile, bytes) = header.headerExtension, profile == Self.profile, bytes.count > Self.size else {
            return nil
        }
        return bytes.lowerBound + Self.size..<bytes.upperBound
    }
}

/// The header of an RTP packet (RFC 3550, section 5.1), and where its payload lies.
///
/// A header that is inconsistent with the packet's size is rejected, so every range lies within the packet.
package struct RTPHeader: Sendable, Equatable {
    /// Whether the payload format's marker bit is set. For video: the last packet of a picture, if the sender is right.
    package var hasMarker: Bool
    package var payloadType: UInt8
    package var sequence: UInt16
    /// Ticks of the stream's clock, which is 90 kHz for video.
    package var timestamp: UInt32
    /// The synchronization source: the sender of the stream.
    package var ssrc: UInt32
    /// The header extension: the number that names its layout, and the bytes after its length field.
    package var headerExtension: (profile: UInt16, bytes: Range<Int>)?
    /// The payload, without the padding.
    package var payload: Range<Int>

    /// The size of a header without contributing sources and extension.
    package static let fixedSize = 12

    package init(
        hasMarker: Bool = false, payloadType: UInt8, sequence: UInt16, timestamp: UInt32, ssrc: UInt32,
        headerExtension: (profile: UInt16, bytes: Range<Int>)? = nil, payload: Range<Int>
    ) {
        self.hasMarker = hasMarker
        self.payloadType = payloadType
        self.sequence = sequence
        self.timestamp = timestamp
        self.ssrc = ssrc
        self.headerExtension = headerExtension
        self.payload = payload
    }

    /// Reads the header of a packet.
    ///
    /// - Returns: nil if the bytes are not an RTP packet of version 2, or if its parts are larger than the packet.
    package init?(_ packet: RawSpan) {
        guard packet.byteCount >= Self.fixedSize, packet[0] >> 6 == 2 else { return nil }
        var start = Self.fixedSize + 4 * Int(packet[0] & 0x0F)
        if packet[0] & 0x10 != 0 {
            guard packet.byteCount >= start + 4 else { return nil }
            let end = start + 4 + 4 * Int(packet.bigEndian16(at: start + 2))
            guard end <= packet.byteCount else { return nil }
            headerExtension = (packet.bigEndian16(at: start), start + 4..<end)
            start = end
        }
        var end = packet.byteCount
        if packet[0] & 0x20 != 0 {
            let padding = Int(packet[end - 1])
            guard padding > 0 else { return nil }
            end -= padding
        }
        guard start <= end else { return nil }
        hasMarker = packet[1] & 0x80 != 0
        payloadType = packet[1] & 0x7F
        sequence = packet.bigEndian16(at: 2)
        timestamp = packet.bigEndian32(at: 4)
        ssrc = packet.bigEndian32(at: 8)
        payload = start..<end
    }

    package static func == (one: Self, other: Self) -> Bool {
        one.hasMarker == other.hasMarker && one.payloadType == other.payloadType && one.sequence == other.sequence
            && one.timestamp == other.timestamp && one.ssrc == other.ssrc && one.payload == other.payload
            && one.headerExtension?.profile == other.headerExtension?.profile
            && one.headerExtension?.bytes == other.headerExtension?.bytes
    }
}

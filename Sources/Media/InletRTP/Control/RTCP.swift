/// The control protocol of RTP (RFC 3550, section 6).
package enum RTCP {
    /// The packet types (RFC 3550, section 12.1; RFC 4585, section 6.1).
    enum PacketType {
        static let senderReport: UInt8 = 200
        static let receiverReport: UInt8 = 201
        static let sourceDescription: UInt8 = 202
        static let goodbye: UInt8 = 203
        static let transportFeedback: UInt8 = 205
        static let payloadFeedback: UInt8 = 206
    }

    /// A part of a compound packet, as far as it concerns a receiver of cameras.
    package enum Item: Sendable, Equatable {
        case senderReport(SenderReport)
        /// A source ends its stream.
        case goodbye(ssrc: UInt32)
        /// Anything else, of which only the packet type is stated.
        case other(type: UInt8)
    }

    /// Whether the second byte of a packet is that of RTCP rather than RTP: 192 to 195 or 200 to 210. RTP has there the
    /// marker and a payload type that RFC 5761, section 4, reserves for this reason.
    package static func isControl(secondByte: UInt8) -> Bool {
        (192...195).contains(secondByte) || (200...210).contains(secondByte)
    }

    /// Whether a packet is RTCP rather than RTP, whatever the channel or port it came by.
    package static func isControl(_ packet: RawSpan) -> Bool {
        packet.byteCount >= 4 && packet[0] >> 6 == 2 && isControl(secondByte: packet[1])
    }

    /// Reads the parts of a compound packet.
    ///
    /// It is lenient: a compound packet may begin with any part, source descriptions and report blocks are not looked
    /// into, and what precedes a part that is cut off or invalid counts.
    ///
    /// - Parameter handle: called for each part in its order. A goodbye of several sources is one each.
    /// - Returns: whether all of the packet was valid.
    @discardableResult
    package static func read(_ packet: RawSpan, _ handle: (Item) -> Void) -> Bool {
        var start = 0
        while start < packet.byteCount {
            guard packet.byteCount - start >= 4, packet[start] >> 6 == 2 else { return false }
            let type = packet[start + 1]
            guard (192...223).contains(type) else { return false }
            let end = start + 4 * (Int(packet.bigEndian16(at: start + 2)) + 1)
            read(type, packet.extracting(start..<min(end, packet.byteCount)), handle)
            guard end <= packet.byteCount else { return false }
            start = end
        }
        return start > 0
    }

    private static func read(_ type: UInt8, _ part: RawSpan, _ handle: (Item) -> Void) {
        switch type {
        case PacketType.senderReport where part.byteCount >= 28:
            handle(
                .senderReport(
                    SenderReport(
                        ssrc: part.bigEndian32(at: 4),
                        time: NTPTime(seconds: part.bigEndian32(at: 8), fraction: part.bigEndian32(at: 12)),
                        timestamp: part.bigEndian32(at: 16), packets: part.bigEndian32(at: 20),
                        bytes: part.bigEndian32(at: 24))))
        case PacketType.goodbye:
            for index in 0..<min(Int(part[0] & 0x1F), part.byteCount / 4 - 1) {
                handle(.goodbye(ssrc: part.bigEndian32(at: 4 + 4 * index)))
            }
        default:
            handle(.other(type: type))
        }
    }
}

package import InletCore

/// Lost packets that are requested, and come again.
extension RTPReceiver {
    /// The time at which requests for missing packets are due; nil if none are.
    package var requestDeadline: MonotonicTime? { missing?.deadline }

    /// Returns the sequence numbers to request now, in their order, and counts them as requested.
    package mutating func takeRequests(at time: MonotonicTime) -> [UInt16] { missing?.takeRequests(at: time) ?? [] }

    /// Takes a packet of a retransmission stream: the payload begins with the sequence number of the original packet
    /// (RFC 4588, section 4). A packet that is not missing is a duplicate, or comes too late.
    mutating func restore(
        _ packet: RawSpan, _ header: RTPHeader, of stream: Retransmission.Stream, at arrival: MonotonicTime,
        _ deliver: (ReceivedPacket, RawSpan) -> Void
    ) {
        // A sender pads its retransmission stream with empty packets.
        guard header.payload.count >= 2, let next, let ssrc else { return }
        let original = packet.bigEndian16(at: header.payload.lowerBound)
        let distance = Int(Int16(bitPattern: original &- UInt16(truncatingIfNeeded: next)))
        let sequence = next &+ distance
        guard let missing, missing.contains(sequence) else {
            if distance < 0 { statistics.late &+= 1 } else { statistics.duplicates &+= 1 }
            return
        }
        let start = header.payload.lowerBound
        var bytes = (0..<start).map { packet[$0] } + (start + 2..<header.payload.upperBound).map { packet[$0] }
        // Without the padding.
        bytes[0] &= 0xDF
        bytes[1] = bytes[1] & 0x80 | stream.originalType
        (bytes[2], bytes[3]) = (UInt8(original >> 8), UInt8(truncatingIfNeeded: original))
        for index in 0..<4 { bytes[8 + index] = UInt8(truncatingIfNeeded: ssrc >> UInt32(24 - 8 * index)) }
        guard let restored = RTPHeader(bytes.rawBytes) else { return }
        accept(
            ReceivedPacket(header: restored, arrival: arrival), bytes.rawBytes, as: sequence, isRepeated: true,
            deliver)
    }
}

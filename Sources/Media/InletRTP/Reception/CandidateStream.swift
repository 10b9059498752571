import InletCore

/// Consecutive packets that continue each other but not the stream. Enough of them count as a separate stream. They are
/// kept, so that no packet is lost once that is certain.
struct CandidateStream: Sendable {
    private(set) var held: HeldPackets
    /// The packets in a row, also those that there was no room to keep.
    private(set) var count = 0
    private(set) var firstArrival: MonotonicTime?
    /// Whether the packets have different timestamps.
    private(set) var spansPictures = false
    private var ssrc: UInt32 = 0
    private var timestamp: UInt32 = 0
    /// The sequence number of the last packet, counted on without wraps from that of the first.
    private(set) var last = 0

    init(maximumBytes: Int) { held = HeldPackets(capacity: 64, maximumBytes: maximumBytes) }

    /// Records a packet, which either continues the packets in a row or is the first of others.
    mutating func note(_ packet: ReceivedPacket, _ bytes: RawSpan) {
        let header = packet.header
        if count > 0, header.ssrc == ssrc, header.sequence == UInt16(truncatingIfNeeded: last &+ 1) {
            last &+= 1
            spansPictures = spansPictures || header.timestamp != timestamp
        } else {
            clear()
            (ssrc, timestamp, last) = (header.ssrc, header.timestamp, Int(header.sequence))
            firstArrival = packet.arrival
        }
        count &+= 1
        // Without room, the oldest are given up: what is kept must be in a row.
        if !held.insert(last, packet, bytes) {
            held.removeAll()
            _ = held.insert(last, packet, bytes)
        }
    }

    /// Forgets the packets.
    mutating func clear() {
        guard count > 0 else { return }
        held.removeAll()
        (count, spansPictures) = (0, false)
        firstArrival = nil
    }

    /// The sequence numbers of the packets kept, counted as ``last`` is.
    var kept: ClosedRange<Int>? { held.count > 0 ? last - held.count + 1...last : nil }

    /// Passes one of the packets on.
    mutating func deliver(
        _ sequence: Int, lostBefore: Int, isRestart: Bool, to deliver: (ReceivedPacket, RawSpan) -> Void
    ) {
        held.deliver(sequence, lostBefore: lostBefore, isRestart: isRestart, to: deliver)
    }
}

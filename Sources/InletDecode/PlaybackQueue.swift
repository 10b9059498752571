import DequeModule
import InletCore

/// What was read and decoded of a stream that is played at its own speed, in the order in which it is due.
///
/// A decoder needs the packets of later pictures before it outputs one, so packets are read before they are due. They
/// wait here: handed on early, they would be stamped by the decoder's progress rather than by their own times.
struct PlaybackQueue {
    private var packets = Deque<SourcePacket>()
    private var byteCount = 0
    private var picture: SourceFrame?

    /// The bounds beyond which packets are handed on although no picture is there: it may be far away, as when only
    /// key frames are decoded.
    private static let most = (packets: 64, bytes: 16 << 20)
    /// A packet that lies further than this ahead of a picture belongs to a time that the stream has left.
    private static let largestLead: Int64 = 2_000_000_000

    /// Adds what was read or decoded last. A picture is taken before the next one is added.
    mutating func add(_ item: SourceItem) {
        switch item {
        case .frame(let frame): picture = frame
        case .packet(let packet):
            packets.append(packet)
            byteCount += packet.data.count
        }
    }

    /// Takes what is due next; nil if that is only known when more was read.
    ///
    /// - Parameter picturesFollow: whether a picture may follow that is due before the first packet.
    mutating func take(picturesFollow: Bool) -> SourceItem? {
        guard let packet = packets.first else { return takePicture() }
        if let picture {
            guard isDue(packet, before: picture) else { return takePicture() }
        } else if picturesFollow, packets.count < Self.most.packets, byteCount < Self.most.bytes {
            return nil
        }
        packets.removeFirst()
        byteCount -= packet.data.count
        return .packet(packet)
    }

    private mutating func takePicture() -> SourceItem? {
        defer { picture = nil }
        return picture.map { .frame($0) }
    }

    private func isDue(_ packet: SourcePacket, before picture: SourceFrame) -> Bool {
        guard let dts = packet.dts?.nanoseconds, let pts = picture.pts?.nanoseconds else { return true }
        return dts <= pts || dts.subtractingReportingOverflow(pts).partialValue > Self.largestLead
    }
}

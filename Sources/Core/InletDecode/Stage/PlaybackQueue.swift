import DequeModule
import InletCore

/// Packets and one picture of a stream that is played at its own speed, in the order in which they are due.
///
/// A decoder needs the packets of later pictures before it outputs one, so packets are read before they are due. They
/// wait here: handed on early, they would be stamped by the decoder's progress rather than by their own times.
///
/// Times are compared within an epoch. An epoch ends where the stream's time steps back.
struct PlaybackQueue {
    private struct Waiting {
        var packet: SourcePacket
        var epoch: Int
    }

    private var packets = Deque<Waiting>()
    private var byteCount = 0
    private var picture: SourceFrame?
    /// The epochs of the last packet and of the last picture that were added.
    private var epochs = (packet: 0, picture: 0)
    /// The times of these two in nanoseconds.
    private var last: (dts: Int64?, pts: Int64?) = (nil, nil)

    /// The bounds beyond which packets are handed on although an earlier picture may follow.
    private static let most = (packets: 64, bytes: 16 << 20)
    /// The smallest step back that begins an epoch, as in ``TimelineWatch``.
    private static let stepBack: Int64 = 1_000_000_000

    /// Adds the item that was read or decoded last. A picture is taken before the next one is added.
    mutating func add(_ item: SourceItem) {
        switch item {
        case .frame(let frame):
            let pts = frame.pts?.nanoseconds
            // The picture belongs to the newest epoch that was read.
            if Self.stepsBack(from: last.pts, to: pts) { epochs.picture = epochs.packet }
            last.pts = pts ?? last.pts
            picture = frame
        case .packet(let packet):
            let dts = packet.dts?.nanoseconds
            if Self.stepsBack(from: last.dts, to: dts) { epochs.packet += 1 }
            last.dts = dts ?? last.dts
            packets.append(Waiting(packet: packet, epoch: epochs.packet))
            byteCount += packet.data.count
        }
    }

    private static func stepsBack(from last: Int64?, to next: Int64?) -> Bool {
        guard let last, let next else { return false }
        return last.subtractingReportingOverflow(next).partialValue > stepBack
    }

    /// Takes the item that is due next; nil if more must be read to determine it.
    ///
    /// - Parameter picturesFollow: whether a picture may follow that is due before the first packet.
    mutating func take(picturesFollow: Bool) -> SourceItem? {
        guard let first = packets.first else { return takePicture() }
        if packets.count >= Self.most.packets || byteCount >= Self.most.bytes {
            // The pictures of its epoch are missing, or far away.
            epochs.picture = max(epochs.picture, first.epoch)
        } else if let picture {
            guard isDue(first, before: picture) else { return takePicture() }
        } else if picturesFollow {
            return nil
        } else {
            epochs.picture = max(epochs.picture, first.epoch)
        }
        packets.removeFirst()
        byteCount -= first.packet.data.count
        return .packet(first.packet)
    }

    private mutating func takePicture() -> SourceItem? {
        defer { picture = nil }
        return picture.map { .frame($0) }
    }

    private func isDue(_ first: Waiting, before picture: SourceFrame) -> Bool {
        guard first.epoch == epochs.picture else { return first.epoch < epochs.picture }
        guard let dts = first.packet.dts?.nanoseconds, let pts = picture.pts?.nanoseconds else { return true }
        return dts <= pts
    }
}

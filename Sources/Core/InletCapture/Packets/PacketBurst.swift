import InletCore

/// Holds the packets with which a server begins, until it is known when they were taken.
///
/// Servers of RTMP begin with their latest group of pictures, all at once (SRS, nginx-rtmp with `gop_cache`). By their
/// arrival, two seconds of pictures would last a millisecond. They are dated back from the first packet that comes at
/// its own time. Pure.
struct PacketBurst {
    private var held: [(packet: SourcePacket, arrival: MonotonicTime)] = []
    private var byteCount = 0

    /// The time for which packets must come at their own pace: a pause within a burst is shorter.
    private static let window = Duration.milliseconds(250)
    /// The longest group that is held.
    private static let longest = Duration.seconds(30)
    private static let (mostPackets, mostBytes) = (4096, 32 << 20)

    /// Adds a packet.
    ///
    /// - Returns: the packets to hand on, with the times at which they would have arrived; nil while packets arrive
    ///   faster than they are shown.
    mutating func add(_ packet: SourcePacket, at now: MonotonicTime) -> [SourcePacket]? {
        held.append((packet, min(packet.receiveTime ?? now, now)))
        byteCount += packet.data.count
        // Without times in order there is nothing to go by.
        guard packet.dts != nil, held.count == 1 || length(from: held.count - 2) > .zero else { return released }
        guard length(from: 0) < Self.longest, held.count < Self.mostPackets, byteCount < Self.mostBytes else {
            return released
        }
        guard let first = held.indices.last(where: { length(from: $0) >= Self.window }) else { return nil }
        return now - held[first].arrival < length(from: first) / 2 ? nil : released
    }

    /// Returns the packets that are held, at the end of the session.
    mutating func end() -> [SourcePacket] {
        defer { held = [] }
        return held.isEmpty ? [] : released
    }

    /// The time from a packet to the newest by their decoding times.
    private func length(from index: Int) -> Duration {
        guard let newest = held[held.count - 1].packet.dts, let dts = held[index].packet.dts else { return .zero }
        return .nanoseconds(newest.nanoseconds.subtracting(saturating: dts.nanoseconds))
    }

    /// All packets. Packets before the one that came earliest relative to its decoding time are dated back from it.
    private var released: [SourcePacket] {
        // The lead of each packet, up to a constant.
        let leads = held.indices.map { Duration.zero - (held[$0].arrival - held[0].arrival) - length(from: $0) }
        guard let place = leads.indices.max(by: { leads[$0] < leads[$1] }) else { return [] }
        return held.enumerated().map { index, item in
            var packet = item.packet
            packet.receiveTime = item.arrival
            let past = length(from: index) - length(from: place)
            // A longer time is a step of the sender's clock.
            guard index < place, packet.dts != nil, past < Self.longest else { return packet }
            packet.receiveTime = min(item.arrival, held[place].arrival - past)
            return packet
        }
    }
}

extension SourceFormat {
    /// Whether the source may begin with packets that are older than their arrival: FLV is what servers of RTMP and
    /// HTTP-FLV send.
    var mayBeginWithPast: Bool { pacing == .live && container.map { ["flv", "live_flv"].contains($0) } == true }
}

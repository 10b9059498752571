import InletCore

/// The packets since the last key frame, or since the last one that was decoded, that were passed on without being
/// decoded: with them, decoding can go on before the next key frame. It holds a few seconds of most cameras, and
/// nothing where a group is too large. Pure.
struct PassedGroup {
    private(set) var packets: [SourcePacket] = []
    private var byteCount = 0
    /// Whether the next packet follows the last one that was decoded.
    private var followsDecoder = false

    /// The most packets that are kept: to decode more would take longer than most wait for a key frame.
    static let mostPackets = 300
    /// The most bytes that are kept.
    static let mostBytes = 8 << 20

    /// Adds the next packet.
    mutating func add(_ packet: SourcePacket) {
        if packet.isKey { clear() }
        guard packet.isKey || followsDecoder || !packets.isEmpty else { return }
        followsDecoder = false
        packets.append(packet)
        byteCount += packet.data.count
        if packets.count > Self.mostPackets || byteCount > Self.mostBytes { clear() }
    }

    /// Notes that a packet was decoded, and everything that it refers to before it.
    mutating func noteDecoded() {
        if !packets.isEmpty { clear() }
        followsDecoder = true
    }

    /// Forgets all packets, up to the next key frame.
    mutating func clear() { (packets, byteCount, followsDecoder) = ([], 0, false) }
}

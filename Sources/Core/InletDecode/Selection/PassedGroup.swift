import InletCore

/// The packets since the last key frame, or since the last one that was decoded, that were passed on without being
/// decoded: with them, decoding can continue before the next key frame. It holds a few seconds of most cameras. Pure.
struct PassedGroup {
    private(set) var packets: [SourcePacket] = []
    private var byteCount = 0
    /// Whether the next packet follows the last one that was decoded.
    private var followsDecoder = false

    /// The most packets that are kept: while they are decoded, nothing else is read.
    static let mostPackets = 120
    /// The most bytes that are kept.
    static let mostBytes = 4 << 20

    /// Adds the next packet.
    ///
    /// - Returns: false if these are more than should be kept: they are to be decoded or forgotten.
    mutating func add(_ packet: SourcePacket) -> Bool {
        if packet.isKey { clear() }
        guard packet.isKey || followsDecoder || !packets.isEmpty else { return true }
        followsDecoder = false
        packets.append(packet)
        byteCount += packet.data.count
        return packets.count <= Self.mostPackets && byteCount <= Self.mostBytes
    }

    /// Records that a packet was decoded, and everything that it refers to before it.
    mutating func noteDecoded() {
        if !packets.isEmpty { clear() }
        followsDecoder = true
    }

    /// Forgets all packets, up to the next key frame.
    mutating func clear() { (packets, byteCount, followsDecoder) = ([], 0, false) }
}

/// Decides whether a stream may remain undecoded: its last group of pictures was short enough to be kept whole, and so
/// is the current one up to now. Other streams are decoded even without viewers, so that a new viewer need not wait for
/// a key frame, which may be far away or never come. Pure.
struct RestRule {
    private(set) var isAllowed = false
    /// The packets and bytes since the last key frame; nil before the first.
    private var group: (packets: Int, bytes: Int)?

    /// Records a packet of the stream.
    mutating func note(_ packet: SourcePacket) {
        if packet.isKey {
            isAllowed = group != nil && isShort
            group = (0, 0)
        }
        guard let before = group else { return }
        group = (
            min(before.packets, PassedGroup.mostPackets) + 1,
            min(before.bytes, PassedGroup.mostBytes) + packet.data.count
        )
        if !isShort { isAllowed = false }
    }

    private var isShort: Bool {
        group.map { $0.packets <= PassedGroup.mostPackets && $0.bytes <= PassedGroup.mostBytes } ?? false
    }
}

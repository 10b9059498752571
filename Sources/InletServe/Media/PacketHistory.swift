import InletCore

/// The packets of a camera's last seconds, from a key frame on, within a limit of bytes. Pure.
struct PacketHistory {
    /// What is kept at most.
    struct Limits: Sendable, Hashable {
        /// The time that is covered, where there are enough packets: it begins at the last key frame before. Zero keeps
        /// the packets from the last key frame on.
        var duration = Duration.zero
        /// The most bytes.
        var bytes = 32 << 20
    }

    var limits: Limits {
        didSet { shrink() }
    }
    /// Groups of packets, each from a key frame on.
    private(set) var groups: [Group] = []
    private(set) var byteCount = 0
    private var newest = MonotonicTime(nanoseconds: .min)

    struct Group {
        /// The parameters of its packets, if known.
        var parameters: CodecParameters?
        var packets: [EncodedPacket]
        var byteCount: Int
    }

    /// What a packet takes besides its data.
    private static let overhead = 256

    init(_ limits: Limits) { self.limits = limits }

    /// The packets, the oldest of which is a key frame.
    var packets: [EncodedPacket] { groups.flatMap(\.packets) }

    /// Adds a packet, and drops what is no longer to be kept. A packet without a key frame before it is not kept.
    ///
    /// - Parameter parameters: those of the packet. They change at key frames only.
    mutating func add(_ packet: EncodedPacket, of parameters: CodecParameters? = nil) {
        let count = packet.data.count + Self.overhead
        if packet.isKey {
            groups.append(Group(parameters: parameters, packets: [packet], byteCount: count))
        } else if groups.isEmpty {
            return
        } else {
            groups[groups.count - 1].packets.append(packet)
            groups[groups.count - 1].byteCount += count
        }
        byteCount += count
        newest = max(newest, packet.captureTime)
        shrink()
    }

    /// Drops all packets.
    mutating func clear() { (groups, byteCount, newest) = ([], 0, MonotonicTime(nanoseconds: .min)) }

    private mutating func shrink() {
        let needed = newest - limits.duration
        while groups.count > 1, let second = groups[1].packets.first,
            second.captureTime <= needed || byteCount > limits.bytes
        {
            byteCount -= groups.removeFirst().byteCount
        }
        // A group that is too long cannot be kept in part, as its end would be without a key frame.
        if byteCount > limits.bytes { clear() }
    }
}

import InletCore

/// The packets of a camera's last seconds, beginning with a key frame and limited in bytes. Pure.
struct PacketHistory {
    /// The limits of the history.
    struct Limits: Sendable, Hashable {
        /// The time to cover, if there are enough packets. The history begins at the last key frame before that time.
        /// Zero keeps the packets from the last key frame on.
        var duration = Duration.zero
        /// The maximum number of bytes.
        var bytes = 32 << 20
    }

    var limits: Limits {
        didSet { shrink() }
    }
    /// Groups of packets, each beginning with a key frame.
    private(set) var groups: [Group] = []
    private(set) var byteCount = 0
    private var newest = MonotonicTime(nanoseconds: .min)

    struct Group {
        /// The parameters of the group's packets, if known.
        var parameters: CodecParameters?
        var packets: [EncodedPacket]
        var byteCount: Int
    }

    /// The bytes counted for a packet in addition to its data.
    private static let overhead = 256

    init(_ limits: Limits) { self.limits = limits }

    /// The packets. The oldest one is a key frame.
    var packets: [EncodedPacket] { groups.flatMap(\.packets) }

    /// Adds a packet, and removes packets beyond the limits. A packet without a preceding key frame is not kept.
    ///
    /// - Parameter parameters: the packet's parameters. They change only at key frames.
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

    /// Removes all packets.
    mutating func clear() { (groups, byteCount, newest) = ([], 0, MonotonicTime(nanoseconds: .min)) }

    private mutating func shrink() {
        let needed = newest - limits.duration
        while groups.count > 1, let second = groups[1].packets.first,
            second.captureTime <= needed || byteCount > limits.bytes
        {
            byteCount -= groups.removeFirst().byteCount
        }
        // A group that is too long cannot be kept in part, because the remaining packets would have no key frame.
        if byteCount > limits.bytes { clear() }
    }
}

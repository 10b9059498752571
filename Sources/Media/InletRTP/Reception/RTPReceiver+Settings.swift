extension RTPReceiver {
    /// The facts about a stream known before its first packet, and the receiver's limits.
    package struct Settings: Sendable {
        /// The payload types of the stream; other packets are dropped. The default, none, accepts all, for session
        /// descriptions that name none that is valid.
        package var payloadTypes: Set<UInt8> = []
        /// Ticks of the stream's clock a second. The default is 90,000.
        package var clockRate = 90_000
        /// Whether the transport keeps the order, as TCP does: then a packet that is missing is lost, and nothing waits
        /// for it. The default is false.
        package var isOrdered = false
        /// The longest time that packets wait for a missing one. They also wait no longer than the time from picture
        /// to picture. The default is 30 ms.
        package var maximumHold: Duration = .milliseconds(30)
        /// Whether all packets of a picture have its timestamp, and no others, so that timestamps show the time from
        /// picture to picture. The default is true. In transport streams each packet has the time of its transmission.
        package var hasPictureTimes = true
        /// The most packets that wait, rounded up to a power of two from 16 to 256. The default is 128.
        package var maximumHeldPackets = 128
        /// The most bytes that wait for a missing packet, and the most that wait until a new sender is certain. The
        /// default is 512 KiB.
        package var maximumHeldBytes = 512 * 1024
        /// The synchronization source that the server has announced. The default is nil: that of the first packet.
        package var expectedSSRC: UInt32?
        /// Whether packets of another synchronization source than the announced one are never accepted. If none was
        /// announced, the source of the first packet may be of another session: within seconds the one with more
        /// packets, or the one that goes on, is the stream. For servers that are known to send packets of other
        /// sessions. The default is false: another source is followed once it is certain to have replaced the stream.
        package var refusesForeignSSRC = false

        /// The way to request lost packets; nil if the sender sends none again. Has no effect on an ordered transport.
        /// Packets wait longer than ``maximumHold`` for one that was requested. The default is nil.
        package var retransmission: Retransmission?

        package init() {}

        var capacity: Int {
            var capacity = 16
            while capacity < min(maximumHeldPackets, 256) { capacity *= 2 }
            return capacity
        }
    }
}

/// A set of payload types (7 bits), in place.
struct PayloadTypes: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    init(_ types: Set<UInt8>) {
        for type in types {
            if type < 64 { low |= 1 << UInt64(type) }
            if (64..<128).contains(type) { high |= 1 << UInt64(type & 63) }
        }
        if types.isEmpty { (low, high) = (.max, .max) }
    }

    func contains(_ type: UInt8) -> Bool {
        (type < 64 ? low >> UInt64(type) : high >> UInt64(type & 63)) & 1 != 0
    }
}

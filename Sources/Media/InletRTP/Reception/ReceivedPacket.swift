package import InletCore

/// The facts about an RTP packet, besides its bytes, when ``RTPReceiver`` delivers it.
package struct ReceivedPacket: Sendable, Equatable {
    /// The packet's header, whose ranges count from the packet's first byte.
    package var header: RTPHeader
    /// The time at which the packet arrived, which is earlier than its delivery if it waited for another.
    package var arrival: MonotonicTime
    /// The number of packets between this one and the one delivered before it that never came or came too late.
    package var lostBefore = 0
    /// Whether sequence and timestamps are unrelated to those of earlier packets: the sender restarted, or another
    /// sender took over. The number of lost packets is then unknown. False for the very first packet.
    package var isRestart = false

    package init(header: RTPHeader, arrival: MonotonicTime, lostBefore: Int = 0, isRestart: Bool = false) {
        self.header = header
        self.arrival = arrival
        self.lostBefore = lostBefore
        self.isRestart = isRestart
    }
}

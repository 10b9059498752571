package import InletCore

/// What is known about an RTP packet besides its bytes when ``RTPReceiver`` delivers it.
package struct ReceivedPacket: Sendable, Equatable {
    /// The packet's header, whose ranges count from the packet's first byte.
    package var header: RTPHeader
    /// When the packet arrived, which is earlier than its delivery if it waited for another.
    package var arrival: MonotonicTime
    /// The number of packets between this one and the one delivered before it that never came or came too late.
    package var lostBefore = 0
    /// Whether sequence and timestamps are unrelated to those of the packets before: the sender started anew, or
    /// another sender took over. How many packets were lost is then unknown. False for the first packet of all.
    package var isRestart = false

    package init(header: RTPHeader, arrival: MonotonicTime, lostBefore: Int = 0, isRestart: Bool = false) {
        self.header = header
        self.arrival = arrival
        self.lostBefore = lostBefore
        self.isRestart = isRestart
    }
}

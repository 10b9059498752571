import InletCore

/// A receiver that takes the source's packets.
protocol PacketReceiver: SinkReceiver {
    /// Whether it takes packets now.
    var takesPackets: Bool { get }

    /// Called on the producer's thread. Blocks only where the source waits for its sinks.
    func offer(_ packet: EncodedPacket, of parameters: CodecParameters, isCancelled: () -> Bool)

    /// Called on the producer's thread: a packet is kept from it. It goes on with a key frame.
    func losePacket(_ reason: DropReason)
}

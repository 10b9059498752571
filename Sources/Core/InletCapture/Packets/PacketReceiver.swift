import InletCore

/// A receiver that takes the source's packets.
protocol PacketReceiver: SinkReceiver {
    /// Whether it takes packets at present.
    var takesPackets: Bool { get }

    /// Offers a packet. Called on the producer's thread. Blocks only if the source waits for its sinks.
    func offer(_ packet: EncodedPacket, of parameters: CodecParameters, isCancelled: () -> Bool)

    /// Reports that a packet was withheld; the receiver continues with a key frame. Called on the producer's thread.
    func losePacket(_ reason: DropReason)
}

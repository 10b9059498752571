/// An output of a ``VideoDecoder``.
public enum DecoderOutput: Sendable {
    case picture(SourceFrame)
    /// No picture is ready before another packet is sent.
    case needsPacket
    /// All pictures of packets sent before ``VideoDecoder/drain()`` have been output.
    case ended
    /// A packet yielded no picture. The next call continues after it.
    case undecodable(PacketFault)
}

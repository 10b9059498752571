/// What a ``VideoDecoder`` gives out.
public enum DecoderOutput: Sendable {
    case picture(SourceFrame)
    /// There is no picture before another packet.
    case needsPacket
    /// All that was sent before ``VideoDecoder/drain()`` has come out.
    case ended
    /// A packet gave no picture. The next call goes on behind it.
    case undecodable(PacketFault)
}

/// An item that a source yields: a picture or a compressed packet.
public enum SourceItem: Sendable {
    /// A picture in its native pixel format, for sinks that take pictures.
    case frame(SourceFrame)
    /// A compressed packet as it was received, for sinks that take packets.
    case packet(SourcePacket)

    /// The picture; nil for a packet.
    public var frame: SourceFrame? { if case .frame(let frame) = self { frame } else { nil } }

    /// The packet; nil for a picture.
    public var packet: SourcePacket? { if case .packet(let packet) = self { packet } else { nil } }
}

/// The facts about a stream of packets that are known before its first packet.
public struct PacketStream: Sendable, Hashable {
    /// The parameters of the packets.
    public var parameters: CodecParameters
    /// The longest time between key frames, as far as the container's index shows. The default, nil, means unknown.
    public var keyFrameInterval: MediaTime?
    /// The time from which pictures are shown; earlier ones are decoded only for those that follow, because reading
    /// began at an earlier key frame. The default, nil, means that all are shown.
    public var start: MediaTime?

    public init(_ parameters: CodecParameters) { self.parameters = parameters }
}

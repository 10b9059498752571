/// What is known of a stream of packets before the first of them.
public struct PacketStream: Sendable, Hashable {
    /// What the packets are.
    public var parameters: CodecParameters
    /// The longest time from key frame to key frame, as far as the container's index tells. The default, nil, is not
    /// known.
    public var keyFrameInterval: MediaTime?
    /// Pictures that are shown before this time are decoded only for those that follow: reading began at an earlier key
    /// frame. The default, nil, is that all are shown.
    public var start: MediaTime?

    public init(_ parameters: CodecParameters) { self.parameters = parameters }
}

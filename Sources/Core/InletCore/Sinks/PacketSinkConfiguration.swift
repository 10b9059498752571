/// Makes a packet sink that takes the source's own packets, without decoding.
public protocol PacketSinkConfiguration: FrameSinkConfiguration {
    /// Makes a packet sink. Does no input or output.
    func makePacketSink() -> any PacketSink
}

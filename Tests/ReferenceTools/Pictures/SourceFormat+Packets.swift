public import InletCore

extension SourceFormat {
    /// Makes the format of a source of packets.
    ///
    /// - Parameters:
    ///   - parameters: the parameters of the packets, in the time base of the stream.
    ///   - pacing: how packets arrive.
    public init(packets parameters: CodecParameters, pacing: SourcePacing) {
        self.init(size: parameters.size, pixelFormat: .yuv420p, timeBase: parameters.timeBase, pacing: pacing)
        packetStream = PacketStream(parameters)
    }
}

public import InletCore

/// Makes a source that yields packets and leaves decoding to others.
public protocol PacketSourceConfiguration: DecodingConfiguration {
    /// How its packets are decoded.
    var decoding: DecodingSettings { get }

    /// Makes a source that yields packets, and states ``SourceFormat/packetStream`` when it is open. Does no input or
    /// output and cannot fail.
    func makePacketSource() -> any FrameSource
}

extension PacketSourceConfiguration {
    /// Makes a source that decodes the packets on the thread that asks for pictures.
    public func makeSource() -> any FrameSource { DecodingSource(makePacketSource(), decoding) }
}

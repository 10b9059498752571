public import InletCore

/// How to make a source that yields packets and leaves decoding to others.
public protocol PacketSourceConfiguration: DecodingConfiguration {
    /// How its packets become pictures.
    var decoding: DecodingSettings { get }

    /// Makes a source that yields packets, and states ``SourceFormat/packetStream`` when it is open. Does no input or
    /// output and cannot fail.
    func makePacketSource() -> any FrameSource
}

extension PacketSourceConfiguration {
    /// A source that decodes the packets on the thread that asks for pictures.
    public func makeSource() -> any FrameSource { DecodingSource(makePacketSource(), decoding) }
}

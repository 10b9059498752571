public import InletCore

/// Makes a source that yields packets and leaves decoding to others.
public protocol PacketSourceConfiguration: DecodingConfiguration {
    /// How its packets are decoded.
    var decoding: DecodingSettings { get }

    /// Makes a source that yields packets, and states ``SourceFormat/packetStream`` when it is open. Does no input or
    /// output and cannot fail.
    func makePacketSource() -> any FrameSource

    /// Whether a live source may be read on another thread than the one that opens and closes it, so that decoding
    /// never delays reading. The default is true.
    var readsOnSeparateThread: Bool { get }
}

extension PacketSourceConfiguration {
    /// True.
    public var readsOnSeparateThread: Bool { true }

    /// Makes a source that decodes the packets on the thread that asks for pictures.
    public func makeSource() -> any FrameSource { DecodingSource(makePacketSource(), decoding) }
}

public import InletCore
public import InletDecode

/// A source of the items that an application pushes into a ``FrameInjector``.
///
/// Each retry of a capturer creates a new source. All of them read the same injector, one at a time.
public struct InjectedSourceConfiguration: PacketSourceConfiguration {
    /// The injector.
    public var injector: FrameInjector
    /// The name in logs and errors. The default is `frames`.
    public var name: String
    /// The decoders for an injector of packets, in any order. A `PluginRegistry` adds its own decoders.
    public var decoders: [DecoderPlugin]
    /// The name of the decoder to try first. The default, nil, is the decoder with the highest preference.
    public var decoder: String?

    public init(
        _ injector: FrameInjector, name: String = "frames", decoders: [DecoderPlugin] = [], decoder: String? = nil
    ) {
        self.injector = injector
        self.name = name
        self.decoders = decoders
        self.decoder = decoder
    }

    /// The source's URI.
    public var redactedURI: String { "inject:\(name)" }

    /// How packets are decoded.
    public var decoding: DecodingSettings { DecodingSettings(decoders, decoder: decoder) }

    /// Returns a source that reads the injector once it is opened.
    public func makePacketSource() -> any FrameSource { InjectedSource(injector) }
}

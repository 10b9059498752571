public import InletCore
public import InletDecode

/// A source of an installed plug-in.
public struct PluginSourceConfiguration: PacketSourceConfiguration {
    /// The plug-in.
    public var program: PluginProgram
    /// Whether the plug-in is loaded into this process instead of a separate one: a crash in it then ends this process.
    /// The default is false.
    public var isInProcess: Bool
    /// The scheme of the source's URI.
    public var scheme: String
    /// The part of the URI after the colon, up to its options.
    public var address: String
    /// The options by their names, all that the manifest declares.
    public var options: [(name: String, value: String)]
    /// The source's URI, without credentials.
    public var redactedURI: String
    /// The decoders for a source of packets, in any order.
    public var decoders: [DecoderPlugin] = []
    /// The name of the decoder to try first. The default, nil, is the preferred one.
    public var decoder: String?
    /// How new versions of the plug-in are found; nil if they are not searched for.
    var updates: PluginUpdates?

    public init(
        program: PluginProgram, isInProcess: Bool = false, scheme: String, address: String,
        options: [(name: String, value: String)], redactedURI: String
    ) {
        self.program = program
        self.isInProcess = isInProcess
        self.scheme = scheme
        self.address = address
        self.options = options
        self.redactedURI = redactedURI
    }

    /// How packets are decoded.
    public var decoding: DecodingSettings { DecodingSettings(decoders, decoder: decoder) }

    /// Returns a source with this configuration. Nothing is started yet.
    public func makePacketSource() -> any FrameSource {
        if isInProcess { return LoadedSource(self) }
        return updates == nil ? ProcessSource(self) : UpdatingSource(self)
    }

    /// Whether the source's packets may be read on a thread other than the one that opened it: a plug-in in this
    /// process is called on only one thread.
    public var readsOnSeparateThread: Bool { !isInProcess }
}

/// The configuration of a source whose packets are decoded by one of several decoders.
public protocol DecodingConfiguration: FrameSourceConfiguration {
    /// The decoders that may be used, in any order. A ``PluginRegistry`` adds those that it knows.
    var decoders: [DecoderPlugin] { get set }
    /// The name of the decoder that is tried first; nil means the one with the greatest ``DecoderPlugin/preference``.
    var decoder: String? { get }
}

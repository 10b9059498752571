/// The configuration of a source whose packets are decoded by one of several decoders.
public protocol DecodingConfiguration: FrameSourceConfiguration {
    /// The decoders that may be used, in any order. A ``PluginRegistry`` puts in those that it knows.
    var decoders: [DecoderPlugin] { get set }
    /// The name of the one that is tried first; nil is the one with the greatest ``DecoderPlugin/preference``.
    var decoder: String? { get }
}

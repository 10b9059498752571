/// A decoder that an application knows by name.
public struct DecoderPlugin: Sendable {
    /// The name for `decoder=NAME`: one word, in lower case.
    public let name: String
    /// A summary of one sentence.
    public let summary: String
    /// Whether it decodes by dedicated hardware.
    public let isHardware: Bool
    /// The priority among the decoders of a codec: the greatest is tried first, if none is requested. libavcodec's
    /// software decoder has 0.
    public let preference: Int
    private let supports: @Sendable (VideoCodec) -> Bool
    private let make: @Sendable () throws -> any VideoDecoder

    /// - Parameters:
    ///   - name: the name for `decoder=NAME`.
    ///   - summary: a summary of one sentence.
    ///   - isHardware: whether it decodes by dedicated hardware. The default is false.
    ///   - preference: the decoder with the greatest is tried first. The default is 0.
    ///   - decodes: whether it may decode a codec. ``VideoDecoder/open(_:_:)`` finds out what depends on a stream's
    ///     profile or the machine.
    ///   - makeDecoder: makes a decoder. Opens nothing yet.
    public init(
        _ name: String, summary: String, isHardware: Bool = false, preference: Int = 0,
        decodes: @escaping @Sendable (VideoCodec) -> Bool = { _ in true },
        makeDecoder: @escaping @Sendable () throws -> any VideoDecoder
    ) {
        self.name = name
        self.summary = summary
        self.isHardware = isHardware
        self.preference = preference
        supports = decodes
        make = makeDecoder
    }

    /// Whether it may decode a codec.
    public func decodes(_ codec: VideoCodec) -> Bool { supports(codec) }

    /// Makes a decoder, which is not open.
    public func makeDecoder() throws -> any VideoDecoder { try make() }
}

/// A decoder that an application knows by name.
public struct DecoderPlugin: Sendable {
    /// What `decoder=NAME` asks for: one word, in lower case.
    public let name: String
    /// One sentence.
    public let summary: String
    /// Whether it decodes by hardware made for it.
    public let isHardware: Bool
    /// Of the decoders of a codec, the one with the greatest is tried first, where none is asked for. libavcodec's by
    /// software has 0.
    public let preference: Int
    private let supports: @Sendable (VideoCodec) -> Bool
    private let make: @Sendable () throws -> any VideoDecoder

    /// - Parameters:
    ///   - name: what `decoder=NAME` asks for.
    ///   - summary: one sentence.
    ///   - isHardware: whether hardware decodes. The default is false.
    ///   - preference: the greatest is tried first. The default is 0.
    ///   - decodes: whether it may decode a codec. What only a stream's profile or the machine tells, its
    ///     ``VideoDecoder/open(_:_:)`` finds out.
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

    /// A new decoder, which is not open.
    public func makeDecoder() throws -> any VideoDecoder { try make() }
}

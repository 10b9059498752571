/// How a ``VideoDecoder`` is to work.
public struct DecoderSettings: Sendable, Hashable {
    /// How many threads decode; 0, the default, lets the decoder choose by the number of processors.
    public var threads = 0
    /// Whether each picture comes out as soon as its packet is in, where the stream allows that. The default is false.
    public var isLowDelay = false
    /// Whether pictures come out, too, that the decoder knows to lack something. The default is false.
    public var showsDamaged = false
    /// Larger pictures are refused before memory is taken for them. The default is 8192x8192.
    public var maximumSize = ImageSize(width: 8192, height: 8192)

    public init() {}
}

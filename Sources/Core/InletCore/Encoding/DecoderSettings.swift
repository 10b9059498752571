/// How a ``VideoDecoder`` should work.
public struct DecoderSettings: Sendable, Hashable {
    /// The number of threads that decode; 0, the default, lets the decoder choose by the number of processors.
    public var threads = 0
    /// Whether each picture is output as soon as its packet is in, if the stream allows that. The default is false.
    public var isLowDelay = false
    /// Whether pictures that the decoder knows to be incomplete are output as well. The default is false.
    public var showsDamaged = false
    /// The largest pictures; larger ones are refused before memory is allocated for them. The default is 8192x8192.
    public var maximumSize = ImageSize(width: 8192, height: 8192)

    public init() {}
}

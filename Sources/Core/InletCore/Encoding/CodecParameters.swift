/// The parameters of a stream of packets: everything that a decoder or container must know before the first one.
public struct CodecParameters: Sendable, Hashable {
    /// The codec.
    public var codec: VideoCodec
    /// The size of the pictures, before any rotation.
    public var size: ImageSize
    /// The length in seconds of one tick of the packets' PTS and DTS.
    public var timeBase: Rational
    /// Frames a second, if a rate was stated. Packets may arrive at any rate.
    public var frameRate: Rational?
    /// How to interpret the samples as colour.
    public var colorSpace: ColorSpace
    /// The clockwise rotation that shows the pictures upright.
    public var rotation: Rotation
    /// Whether decoders flip the pictures vertically, before any rotation: together, both express every mirrored
    /// orientation. The default is false.
    public var isMirrored = false
    /// The width of a pixel over its height; nil if unknown.
    public var sampleAspectRatio: Rational?
    /// Whether ``sampleAspectRatio`` is the container's own statement, which then replaces that of the packets, as
    /// FFmpeg does it. The default, false, uses it only for pictures whose packets state none.
    public var hasContainerAspectRatio = false
    /// The data that decoders need besides the packets, from the encoder or the container: parameter sets of H.264 and
    /// HEVC, either with start codes or as an `avcC` or `hvcC` record. Empty if the stream has no such data.
    public var extraData: [UInt8]
    /// The profile by FFmpeg's number for it; nil if unknown.
    public var profile: Int?
    /// The level by the codec's own number; nil if unknown.
    public var level: Int?
    /// Bits a second, if a rate was set.
    public var bitrate: Int?
    /// The pixel format before compression. The default is I420.
    public var pixelFormat: PixelFormat
    /// The container's code for the codec (FourCC), which distinguishes variants of some codecs. The default, 0, means
    /// none.
    public var codecTag: UInt32 = 0
    /// Bits of a pixel as the container states them, which some old codecs need. The default, 0, means unknown.
    public var bitsPerCodedSample = 0
    /// The number of pictures that may be decoded before one that is shown earlier, if known. The default is 0.
    public var reorderDepth = 0

    public init(
        codec: VideoCodec, size: ImageSize, timeBase: Rational, frameRate: Rational? = nil,
        colorSpace: ColorSpace = .unspecified, rotation: Rotation = .none, sampleAspectRatio: Rational? = nil,
        extraData: [UInt8] = [], profile: Int? = nil, level: Int? = nil, bitrate: Int? = nil,
        pixelFormat: PixelFormat = .yuv420p
    ) {
        self.codec = codec
        self.size = size
        self.timeBase = timeBase
        self.frameRate = frameRate
        self.colorSpace = colorSpace
        self.rotation = rotation
        self.sampleAspectRatio = sampleAspectRatio
        self.extraData = extraData
        self.profile = profile
        self.level = level
        self.bitrate = bitrate
        self.pixelFormat = pixelFormat
    }
}

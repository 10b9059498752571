/// How a source describes itself when it has been opened.
///
/// A statement of intent: every frame carries its own size, pixel format and colour, and those count.
public struct SourceFormat: Sendable, Hashable {
    /// The size of the pictures, before any rotation; 0x0 if it is unknown before the first picture.
    public var size: ImageSize
    /// How the bytes of the native pictures are laid out.
    public var pixelFormat: PixelFormat
    /// Frames a second, if the rate is known and constant enough to state.
    public var frameRate: Rational?
    /// The length in seconds of one tick of the source's PTS.
    public var timeBase: Rational
    /// The width of the source's PTS in bits, after which they wrap to zero: 33 in MPEG-TS, 32 in RTP. PTS that a
    /// library has already extended beyond their width are understood, too. The default, nil, means unknown: a step
    /// back by a whole counter is then taken for a wrap.
    public var timestampBits: Int?
    /// How to interpret the samples as colour.
    public var colorSpace: ColorSpace
    /// The clockwise rotation that shows the pictures upright.
    public var rotation: Rotation
    /// The width of a pixel over its height, if it is known.
    public var sampleAspectRatio: Rational?
    /// How the source's frames are paced: this determines the default queue and the meaning of the timestamps.
    public var pacing: SourcePacing
    /// Whether the stream continues without us: if reopened after a failure, it continues from that moment, and nothing
    /// is played twice. The default, nil, follows ``pacing``: true if that is live.
    public var isBroadcast: Bool?
    /// The length, for sources that end.
    public var duration: MediaTime?
    /// FFmpeg's name of the codec, if the source is compressed.
    public var codec: String?
    /// The container, device or protocol, as the plug-in names it.
    public var container: String?
    /// Whether the source yields packets if ``SourceDemand/packets`` requests them. The default is false.
    public var hasPackets = false
    /// The packets of the stream, for a source that yields packets and leaves decoding to others. The default, nil,
    /// means a source that yields pictures.
    public var packetStream: PacketStream?

    public init(
        size: ImageSize, pixelFormat: PixelFormat, frameRate: Rational? = nil, timeBase: Rational,
        colorSpace: ColorSpace = .unspecified, rotation: Rotation = .none, sampleAspectRatio: Rational? = nil,
        pacing: SourcePacing, duration: MediaTime? = nil, codec: String? = nil, container: String? = nil,
        timestampBits: Int? = nil, isBroadcast: Bool? = nil
    ) {
        self.isBroadcast = isBroadcast
        self.size = size
        self.pixelFormat = pixelFormat
        self.frameRate = frameRate
        self.timeBase = timeBase
        self.colorSpace = colorSpace
        self.rotation = rotation
        self.sampleAspectRatio = sampleAspectRatio
        self.pacing = pacing
        self.duration = duration
        self.codec = codec
        self.container = container
        self.timestampBits = timestampBits
    }
}

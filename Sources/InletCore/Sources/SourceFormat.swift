/// What a source says of itself when it has been opened.
///
/// A statement of intent: every frame carries its own size, pixel format and colour, and those count.
public struct SourceFormat: Sendable, Hashable {
    /// The size of the pictures, before any rotation; 0x0 where only the first picture will tell.
    public var size: ImageSize
    /// How the bytes of the native pictures are laid out.
    public var pixelFormat: PixelFormat
    /// Frames a second, where it is known and constant enough to state.
    public var frameRate: Rational?
    /// The length in seconds of one tick of the source's PTS.
    public var timeBase: Rational
    /// After how many bits the source's PTS start again from zero: 33 in MPEG-TS, 32 in RTP. PTS that a library has
    /// already carried on beyond their width are understood, too. The default, nil, is not known: a step back by a
    /// whole counter is then taken for a wrap.
    public var timestampBits: Int?
    /// What the numbers mean as colour.
    public var colorSpace: ColorSpace
    /// How far to turn the pictures clockwise to show them upright.
    public var rotation: Rotation
    /// The width of a pixel over its height, where it is known.
    public var sampleAspectRatio: Rational?
    /// How the source's frames come: that decides the default queue and what the timestamps mean.
    public var pacing: SourcePacing
    /// The stream goes on without us: opened again after a failure it continues from then, and nothing is played twice.
    /// The default, nil, is that of ``pacing``: true where that is live.
    public var isBroadcast: Bool?
    /// How long it is, for sources that end.
    public var duration: MediaTime?
    /// The name of the compression, as FFmpeg spells it, where there is any.
    public var codec: String?
    /// The container, device or protocol, in the words of the plug-in.
    public var container: String?
    /// Whether the source yields packets where ``SourceDemand/packets`` asks for them. The default is false.
    public var hasPackets = false
    /// What the packets of the stream are, for a source that yields packets and leaves decoding to others. The default,
    /// nil, is a source that yields pictures.
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

public import InletCore

/// How the packets of a source are decoded.
public struct DecodingSettings: Sendable {
    /// The decoders that may be used, in any order. If one cannot be opened, or fails later, the next is used.
    public var decoders: [DecoderPlugin]
    /// The name of the decoder that is tried first. The default, nil, means the one with the greatest preference.
    public var decoder: String?
    /// The decoding threads; 0 means one for each processor. The default, nil, is 1 for a live stream, as further
    /// threads would each hold a picture back, and 0 for others.
    public var threads: Int?
    /// How to handle damaged pictures. The default is ``DamagePolicy/drop``.
    public var damage = DamagePolicy.drop
    /// The longest time from a packet's arrival to its picture, for live streams: if decoding does not keep up,
    /// pictures are skipped and counted as ``DropReason/late``. The default is ``defaultMaximumLag``; if nil, or if the
    /// source waits for a sink, nothing is skipped.
    public var maximumLag: Duration? = Self.defaultMaximumLag
    /// The pictures and rates that are refused.
    public var limits = PictureLimits()
    /// The range, that is, whether black is 16 or 0, whatever the pictures state. The default, nil, uses what they
    /// state.
    public var colorRange: ColorRange?
    /// The matrix of luma and chroma, whatever the pictures state. The default, nil, uses what they state.
    public var colorMatrix: ColorMatrix?

    /// The default of ``maximumLag``: 250 ms. The key frames of 20 cameras that come together keep two processors busy
    /// for up to 200 ms.
    public static let defaultMaximumLag = Duration.milliseconds(250)

    public init(_ decoders: [DecoderPlugin], decoder: String? = nil) {
        self.decoders = decoders
        self.decoder = decoder
    }

    /// Returns the settings for a decoder of a stream.
    func decoderSettings(isLive: Bool) -> DecoderSettings {
        var settings = DecoderSettings()
        settings.threads = threads ?? (isLive ? 1 : 0)
        settings.isLowDelay = isLive
        settings.showsDamaged = damage != .drop
        settings.maximumSize = limits.size
        return settings
    }
}

public import InletCore

/// How the packets of a source become pictures.
public struct DecodingSettings: Sendable {
    /// The decoders that may be used, in any order. One that cannot be opened, or fails later, is followed by the next.
    public var decoders: [DecoderPlugin]
    /// The name of the one that is tried first. The default, nil, is the one with the greatest preference.
    public var decoder: String?
    /// Threads that decode; 0 is one a processor. The default, nil, is 1 for a live stream, as further threads would
    /// each hold a picture back, and 0 for others.
    public var threads: Int?
    /// What becomes of damaged pictures. The default is ``DamagePolicy/drop``.
    public var damage = DamagePolicy.drop
    /// The longest time from a packet's arrival to its picture, for live streams: where decoding does not keep up,
    /// pictures are left out and counted as ``DropReason/late``. The default is 150 ms; nil leaves nothing out, and so
    /// do sinks for which the source waits.
    public var maximumLag: Duration? = .milliseconds(150)
    /// Pictures and rates that are refused.
    public var limits = PictureLimits()
    /// Whether black is 16 or 0, whatever the pictures say. The default, nil, is what they say.
    public var colorRange: ColorRange?
    /// How luma and chroma are made, whatever the pictures say. The default, nil, is what they say.
    public var colorMatrix: ColorMatrix?

    public init(_ decoders: [DecoderPlugin], decoder: String? = nil) {
        self.decoders = decoders
        self.decoder = decoder
    }

    /// The settings for a decoder of a stream.
    func decoderSettings(isLive: Bool) -> DecoderSettings {
        var settings = DecoderSettings()
        settings.threads = threads ?? (isLive ? 1 : 0)
        settings.isLowDelay = isLive
        settings.showsDamaged = damage != .drop
        settings.maximumSize = limits.size
        return settings
    }
}

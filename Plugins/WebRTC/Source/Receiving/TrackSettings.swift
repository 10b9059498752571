public import InletCore
public import InletDecode
public import InletRTC

/// The settings for receiving and decoding a remote track, shared by all WebRTC sources.
public struct TrackSettings: Sendable {
    /// The accepted codec: H.264, VP8, VP9, AV1 or HEVC. The default is H.264, which every browser sends.
    public var codec = VideoCodec.h264
    /// The time to wait for a missing packet when later ones have arrived; it is requested again meanwhile. The
    /// default is 100 ms.
    public var latency = Duration.milliseconds(100)
    /// The time that a session may take to connect. The default is 10 seconds.
    public var connectTimeout = Duration.seconds(10)
    /// The time that the first picture of a session may take. The default is 10 seconds.
    public var firstTimeout = Duration.seconds(10)
    /// The time that any later picture may take. The default is 5 seconds.
    public var readTimeout = Duration.seconds(5)
    /// STUN and TURN servers. Empty by default.
    public var ice = ICEServers()
    /// The number of decoding threads; 0 is one per core. The default, nil, is 1.
    public var threads: Int?
    /// The largest accepted picture. The default is 8192x8192.
    public var maximumSize = PictureLimits().size
    /// The highest accepted frame rate. The default is 240.
    public var maximumFrameRate = Rational(240)
    /// The longest time from a packet's arrival to its picture. If decoding does not keep up, pictures are
    /// dropped. The default is 250 ms; 0 is no limit.
    public var maximumLag = DecodingSettings.defaultMaximumLag
    /// The decoders that may be used. Empty by default: the `Inlet` module and the command set all of their
    /// decoders.
    public var decoders: [DecoderPlugin] = []
    /// The name of the decoder to try first. The default, nil, is the one with the highest preference.
    public var decoder: String?
    /// The handling of damaged pictures. The default is `.drop`.
    public var damage = DamagePolicy.drop

    public init() {}

    var decoding: DecodingSettings {
        var settings = DecodingSettings(decoders, decoder: decoder)
        settings.threads = threads
        settings.limits = PictureLimits(size: maximumSize, frameRate: maximumFrameRate)
        settings.damage = damage
        settings.maximumLag = maximumLag > .zero ? maximumLag : nil
        return settings
    }

    /// - Parameter isSignaled: whether signaling may also name relays. The default is false.
    /// - Throws: ``InletError/Code/invalidConfiguration`` if the codec cannot be received, or if a time-out is not
    ///   positive.
    func validate(isSignaled: Bool = false) throws(InletError) {
        guard ReceivingPipeline(codec) != nil else {
            throw InletError(
                .invalidConfiguration, "\(codec) cannot be received by WebRTC. Try h264, vp8, vp9, av1 or hevc.")
        }
        guard connectTimeout > .zero, firstTimeout > .zero, readTimeout > .zero else {
            throw InletError(.invalidConfiguration, "Time-outs must be above 0.")
        }
        guard (.zero ... .seconds(10)).contains(latency) else {
            throw InletError(.invalidConfiguration, "latency must be 0 to 10s, not \(latency).")
        }
        if isSignaled { try ice.validateBesideSignaling() } else { try ice.validate() }
    }
}

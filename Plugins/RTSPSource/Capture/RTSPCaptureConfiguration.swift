public import InletCore
public import InletDecode

/// The capture of an RTSP session, which `inlet capture` has written, played through the same machines.
public struct RTSPCaptureConfiguration: PacketSourceConfiguration {
    /// The path of the file.
    public var path: String
    /// How the packets are paced. The default, `.none`, plays as fast as packets are taken; `.realtime` plays them at
    /// the times at which they arrived.
    public var pace = Pace.none
    /// The number of decoding threads; 0 is one per core. The default, nil, is that.
    public var threads: Int?
    /// The largest picture that is accepted; larger ones are refused before memory is allocated. The default is
    /// 8192x8192.
    public var maximumSize = PictureLimits().size
    /// The decoders that may be used. The default is none: the `Inlet` module and the command have all of theirs.
    public var decoders: [DecoderPlugin] = []
    /// The name of the decoder that is tried first. The default, nil, is the one with the greatest preference.
    public var decoder: String?
    /// What happens to damaged pictures. The default is `.drop`.
    public var damage = DamagePolicy.drop

    /// How the packets of a capture are paced.
    public enum Pace: String, ChoiceOptionValue {
        /// At the times at which they arrived.
        case realtime
        /// As fast as they are taken.
        case none
    }

    /// Creates a configuration for the capture at a path, with the defaults.
    public init(path: String) { self.path = path }

    /// The URI of the file.
    public var redactedURI: String { Redaction.redact(uri: "rtspcap:\(path)") }

    /// How the packets are decoded. Nothing is left out because it is late.
    public var decoding: DecodingSettings {
        var settings = DecodingSettings(decoders, decoder: decoder)
        settings.threads = threads
        settings.limits = PictureLimits(size: maximumSize, frameRate: RTSPConfiguration(url: "").maximumFrameRate)
        settings.damage = damage
        settings.maximumLag = nil
        return settings
    }

    /// Returns a source that plays the capture. Opens nothing yet.
    public func makePacketSource() -> any FrameSource { RTSPCaptureSource(self) }
}

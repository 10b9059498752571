public import InletCore
public import InletDecode

/// The capture of an RTSP session, written by `inlet capture` and played through the same state machines.
public struct RTSPCaptureConfiguration: PacketSourceConfiguration {
    /// The path of the file.
    public var path: String
    /// The pacing of the packets. The default, `.none`, plays as fast as packets are taken; `.realtime` plays them at
    /// their arrival times.
    public var pace = Pace.none
    /// The number of decoding threads; 0 is one per core. The default, nil, means 0.
    public var threads: Int?
    /// The largest accepted picture; larger ones are rejected before memory is allocated. The default is 8192x8192.
    public var maximumSize = PictureLimits().size
    /// The decoders that may be used. Empty by default: the `Inlet` module and the command set all of their decoders.
    public var decoders: [DecoderPlugin] = []
    /// The name of the decoder to try first. The default, nil, is the one with the highest preference.
    public var decoder: String?
    /// The handling of damaged pictures. The default is `.drop`.
    public var damage = DamagePolicy.drop

    /// The pacing of a capture's packets.
    public enum Pace: String, ChoiceOptionValue {
        /// At their arrival times.
        case realtime
        /// As fast as they are taken.
        case none
    }

    /// Creates a configuration for the capture at a path, with default values.
    public init(path: String) { self.path = path }

    /// The URI of the file.
    public var redactedURI: String { Redaction.redact(uri: "rtspcap:\(path)") }

    /// The configuration of decoding. Nothing is dropped for being late.
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

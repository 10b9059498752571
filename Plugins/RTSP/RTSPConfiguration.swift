public import InletCore
public import InletDecode

/// A network camera or server that supports RTSP 1.0 (RFC 2326).
public struct RTSPConfiguration: PacketSourceConfiguration {
    /// The address, `rtsp:` or `rtsps:`. It may contain credentials, in any characters, percent-encoded or not.
    public var url: String
    /// The transport of the pictures. The default, `.auto`, is TCP: cameras lose packets over UDP. If the server
    /// rejects `.multicast`, or no packet arrives for 3 s, UDP is tried next; after UDP, TCP. Both continue over TCP
    /// as soon as lost packets cost too many pictures, unless damaged pictures are shown (``damage``).
    public var transport = Transport.auto
    /// The path and query of the tunnel, for `.http` and `.websocket`. They are not sent to another scheme, host or
    /// port to which the server redirects. The default, nil, uses those of the address.
    public var tunnelPath: String?
    /// The time to wait over UDP for a missing packet when later ones have arrived. The default is 30 ms.
    public var latency = Duration.milliseconds(30)
    /// The user name, which overrides the one in the address.
    public var user: String?
    /// The password, which overrides the one in the address.
    public var password: String?
    /// The path of a PEM file with the certificate authorities for verifying the server of an `rtsps:` address. The
    /// default, nil, uses the system's.
    public var certificateAuthorities: String?
    /// Whether the server's certificate is verified. The default is true.
    public var verifiesCertificate = true
    /// The SHA-256 of the only accepted certificate, as 64 hexadecimal digits, with or without colons. Such a
    /// certificate needs no authority. The default, nil, accepts every trusted certificate.
    public var certificatePin: String?
    /// The condition for requesting key frames from the server by RTCP. The default is `.auto`.
    public var keyFrameRequests = KeyFrameRequests.auto
    /// The condition for sending the password in plain text, by Basic authentication, to a server that does not offer
    /// Digest. The default is `.always`.
    public var basicAuthentication = BasicAuthentication.always
    /// The address of the camera's ONVIF device service, `http:` or `https:` and without credentials. Key frames are
    /// requested from it (SetSynchronizationPoint) unless ``keyFrameRequests`` is `.never`. The default, nil, uses no
    /// device.
    public var onvif: String?
    /// Whether motion and tampering detected by the ONVIF device are reported, as the capturer's event `detected`. The
    /// default is false.
    public var events = false
    /// The token of the ONVIF media profile of the stream. The default, nil, finds it by the stream's address.
    public var onvifProfile: String?
    /// The addresses to which a server may redirect. The default is `.follow`: only addresses at least as public as
    /// its own.
    public var privateAddresses = PrivateAddresses.follow
    /// Whether the credentials are also sent to a server to which another one redirects. The default is false.
    public var sharesCredentials = false
    /// The time limit for connecting. The default is 5 seconds.
    public var connectTimeout = Duration.seconds(5)
    /// The time limit for the first complete picture. The default is 5 seconds.
    public var firstTimeout = Duration.seconds(5)
    /// The time limit for any later packet. The default is 5 seconds.
    public var readTimeout = Duration.seconds(5)
    /// The number of the stream among the video streams in the session description, from 0. The default, nil, is the
    /// first one that can be decoded.
    public var stream: Int?
    /// The number of decoding threads; 0 is one per core. The default, nil, is 1, which avoids handing data over
    /// between threads.
    public var threads: Int?
    /// The largest accepted picture; larger ones are rejected before memory is allocated. The default is 8192x8192.
    public var maximumSize = PictureLimits().size
    /// The highest accepted frame rate. The default is 240.
    public var maximumFrameRate = Rational(240)
    /// The longest time from a packet's arrival to its picture. If decoding does not keep up, pictures are dropped.
    /// The default is 250 ms; 0 is no limit.
    public var maximumLag = DecodingSettings.defaultMaximumLag
    /// The decoders that may be used. Empty by default: the `Inlet` module and the command set all of their decoders.
    public var decoders: [DecoderPlugin] = []
    /// The name of the decoder to try first. The default, nil, is the one with the highest preference.
    public var decoder: String?
    /// The handling of damaged pictures. The default is `.drop`.
    public var damage = DamagePolicy.drop

    /// The output for a capture of the session. The default, nil, makes no capture and has no cost.
    package var capture: CaptureOutput?

    /// The transport of the pictures.
    public enum Transport: String, ChoiceOptionValue {
        case auto, tcp, udp, multicast
        /// UDP, regardless of the number of lost packets.
        case udpOnly = "udp-only"
        /// Everything in HTTP, on two connections; in HTTPS for `rtsps:`.
        case http
        /// Everything in a WebSocket (ONVIF); over TLS for `rtsps:`.
        case websocket
    }

    /// The condition for requesting key frames.
    public enum KeyFrameRequests: String, ChoiceOptionValue {
        /// If the session description offers the feedback (RFC 4585).
        case auto
        /// Always, because servers often omit the offer.
        case always
        case never
    }

    /// The condition for using Basic authentication (RFC 7617), which sends the password in plain text. Digest is
    /// preferred whenever a server offers it.
    public enum BasicAuthentication: String, ChoiceOptionValue {
        /// With every server that does not offer Digest. An attacker who can alter the traffic can remove that offer.
        case always
        /// Only to `rtsps:` addresses.
        case encrypted
        case never
    }

    /// Creates a configuration for the stream at an address, with default values.
    public init(url: String) { self.url = url }

    /// The address without credentials.
    public var redactedURI: String { Redaction.redact(uri: url) }

    /// The configuration of decoding.
    public var decoding: DecodingSettings {
        var settings = DecodingSettings(decoders, decoder: decoder)
        settings.threads = threads
        settings.limits = PictureLimits(size: maximumSize, frameRate: maximumFrameRate)
        settings.damage = damage
        settings.maximumLag = maximumLag > .zero ? maximumLag : nil
        return settings
    }

    /// The knowledge of one capturer's sources about the server; nil if each source determines it again.
    var memory: ServerMemory?

    /// Returns a source that reads the stream. It does not connect yet.
    public func makePacketSource() -> any FrameSource { RTSPSource(self) }

    /// Returns a configuration whose sources share their knowledge about the server: its keep-alives, the working
    /// transport, and its ONVIF device.
    public func scopedToCapturer() -> any FrameSourceConfiguration {
        var scoped = self
        scoped.memory = ServerMemory()
        return scoped
    }
}

public import InletCore
public import InletDecode
import InletHTTPServer
public import InletRTC

/// An endpoint to which one publisher at a time sends its picture: `whip:`, at http://127.0.0.1:8092/.
///
/// The page at `/` turns a browser or phone into a camera. At `/whip`, any program that supports WHIP (RFC 9725),
/// such as OBS, can publish. Without a publisher, the source is interrupted; a newer publisher replaces an older
/// one.
public struct WHIPSourceConfiguration: PacketSourceConfiguration {
    /// The address to listen on. The default is 127.0.0.1, which only this machine can reach.
    public var host: String
    /// The port; 0 lets the system choose one, which is logged. The default is 8092.
    public var port: Int
    /// The token that every publisher must send, as `?token=` or as a bearer token. The default, nil, requires no
    /// token at a loopback address; at any other address a token is generated and logged with the page's address.
    public var token: String?
    /// Whether media uses all addresses of this machine even if ``host`` is a loopback address, as needed behind a
    /// proxy. The default is false: only loopback, unless there are STUN or TURN servers.
    public var reachesOut = false
    /// The origins of sites whose pages may publish in addition to this server's own, or `*`, which requires a
    /// token. Empty by default.
    public var origins: [String] = []
    /// Decides which publishers are admitted, by rules and by the application, in addition to the token. A
    /// publisher gives its name as `/?name=NAME` for the page or `/whip?name=NAME`. The default admits every
    /// publisher, and a newer one replaces an older one; with a limit of one, the newer one is rejected as busy.
    public var admission = Admission()
    /// The limits on a publisher's data channels. ``DataChannelLimits/channels`` is 0 by default: none are
    /// allowed, and channels that a publisher opens are closed. The same applies to a publisher whose admission
    /// does not allow messages.
    public var channels: DataChannelLimits = {
        var limits = DataChannelLimits()
        limits.channels = 0
        return limits
    }()
    /// Exchanges messages with the publisher over its data channels while the source runs, and reports sessions.
    /// It exists before the source and outlives it. Copies of a configuration share it.
    public let messaging = PeerMessaging()
    /// The settings for receiving and decoding the track.
    public var track = TrackSettings()

    /// Creates a configuration with default values.
    ///
    /// - Parameters:
    ///   - host: the address to listen on. By default, only this machine can reach it.
    ///   - port: the port to listen on. The default is 8092.
    ///   - token: the token that every publisher must send. The default, nil, generates one if other machines can
    ///     reach the endpoint.
    public init(host: String = "127.0.0.1", port: Int = 8092, token: String? = nil) {
        self.host = host
        self.port = port
        self.token = token
    }

    /// The source's URI, without the token.
    public var redactedURI: String { "whip:\(host.contains(byte: ":") ? "[\(host)]" : host):\(port)" }

    /// The configuration of decoding.
    public var decoding: DecodingSettings { track.decoding }

    /// The decoders that may be used.
    public var decoders: [DecoderPlugin] {
        get { track.decoders }
        set { track.decoders = newValue }
    }

    /// The name of the decoder to try first.
    public var decoder: String? { track.decoder }

    /// Returns a source that listens when it is opened.
    public func makePacketSource() -> any FrameSource {
        RemoteTrackSource(track, uri: redactedURI) { PublisherEndpoint(self, $0) }
    }

    var access: AccessRule { AccessRule(host: host, port: port, token: token) }

    /// The only address at which candidates are gathered; nil for all addresses of this machine.
    var gatheringAddress: String? {
        guard access.isLoopback, !reachesOut, track.ice.isEmpty else { return nil }
        return host.utf8.contains(UInt8(ascii: ":")) ? "::1" : "127.0.0.1"
    }

    /// Checks the configuration.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if pages of any site could publish without a token, or
    ///   if values contradict each other.
    public func validate() throws(InletError) {
        try access.validate()
        try track.validate()
        try admission.validate()
        try channels.validate()
        guard access.token != nil || !origins.contains(where: { $0.isSameBytes(as: "*") }) else {
            throw InletError(
                .invalidConfiguration,
                "With origin=*, any page open in a browser on this machine could publish. Add token=SECRET, or name the site."
            )
        }
    }
}

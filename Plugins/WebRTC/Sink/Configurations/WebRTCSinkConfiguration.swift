public import InletCore
import InletHTTPServer
public import InletRTC
import InletSystem

/// A web page that shows the source by WebRTC, and a WHEP endpoint: `webrtc:`, at http://127.0.0.1:8091/.
///
/// All viewers share the encoders, at most ``tiers`` for each codec. Without viewers, nothing is encoded.
public struct WebRTCSinkConfiguration: FrameSinkConfiguration {
    /// The address to listen on. The default is 127.0.0.1, which only this machine can reach.
    public var host: String
    /// The port; 0 lets the system choose one, which is logged. The default is 8091.
    public var port: Int
    /// The token that every client must send, as `?token=` or as a bearer token. The default, nil, requires no
    /// token at a loopback address; at any other address a token is generated and logged with the page's address.
    public var token: String?
    /// The largest picture size; larger pictures are scaled down. The default is 1280x720.
    public var largestSize = ImageSize(width: 1280, height: 720)
    /// The highest frame rate. The default, nil, is no limit.
    public var frameRate: Rational?
    /// The bit rates, and their reaction to loss. The slowest viewer on a tier sets the rate of all viewers on it.
    public var rates = RTCConfiguration().rates
    /// The controller of a viewer's bit rate. The default is ``RateControl/delay``.
    public var rateControl = RateControl.delay
    /// The time that a viewer's session may take from the answer to media. The default is 10 seconds.
    public var connectTimeout = Duration.seconds(10)
    /// The codecs to send, in order of preference: a viewer gets the first one that it supports. Codecs that
    /// cannot be encoded or packetized here are skipped. The default is H.264, VP8, VP9 and HEVC.
    public var codecs: [VideoCodec] = [.h264, .vp8, .vp9, .hevc]
    /// The maximum number of encodings of the source for each codec, from 1 to 3: the full size, half of it, and a
    /// quarter. Each viewer gets the best one that its path can carry. The default is 3.
    public var tiers = 3
    /// Whether the source's H.264 is sent to viewers unchanged, without decoding, if possible: with start codes, a
    /// profile that browsers support, in display order, upright, no larger and no faster than the limits above,
    /// and with a key frame at least every 2 seconds. The default is true.
    public var passesThrough = true
    /// The number of threads of each encoder. The default is 1, which is sufficient for 720p.
    public var threads = 1
    /// The maximum number of viewers at a time, from 1 to 1000. The default is 100.
    public var viewers = 100
    /// The maximum number of viewers at a time at one address, or in one IPv6 network, from 1 to 1000. Behind a
    /// proxy all viewers share one address. The default is 25.
    public var viewersPerClient = 25
    /// Whether media uses all addresses of this machine even if ``host`` is a loopback address, as needed behind a
    /// proxy. The default is false: only loopback, unless there are STUN or TURN servers.
    public var reachesOut = false
    /// STUN and TURN servers, for this side and for viewers. Empty by default.
    public var ice = ICEServers()
    /// The origins of sites whose pages may show the picture in addition to this server's own, or `*`, which
    /// requires a token. Empty by default.
    public var origins: [String] = []
    /// The names of the track in descriptions. The default is that of ``TrackName``.
    public var trackName = TrackName()
    /// The time for which the source may be silent before the track is unpublished: sessions end, and viewers see
    /// that the camera is off until it is back. Nil is no limit. The default is 30 seconds.
    public var patience: Duration? = .seconds(30)
    /// The limits on one viewer's data channels.
    public var channels = DataChannelLimits()
    /// Decides which viewers are admitted, in addition to token and limits, and their permissions. A viewer gives
    /// its name in the query, as `/?name=NAME` for the page and `/whep?name=NAME` for WHEP. The default admits
    /// every viewer.
    public var admission = Admission()
    /// Controls the track and exchanges messages with viewers while the sink runs. Copies of a configuration share
    /// it.
    public let broadcast = WebRTCBroadcast()

    /// The path to which offers are posted.
    var endpointPath = "/whep"

    /// Returns an encoder for one of ``codecs``. An unsupported encoder fails when it is opened.
    public var makeEncoder: @Sendable () -> any VideoEncoder

    /// Creates a configuration with default values.
    ///
    /// - Parameters:
    ///   - host: the address to listen on. By default, only this machine can reach it.
    ///   - port: the port to listen on. The default is 8091.
    ///   - token: the token that every client must send. The default, nil, generates one if other machines can
    ///     reach the server.
    ///   - makeEncoder: returns an encoder, such as `FFmpegVideoEncoder`.
    public init(
        host: String = "127.0.0.1", port: Int = 8091, token: String? = nil,
        makeEncoder: @escaping @Sendable () -> any VideoEncoder
    ) {
        self.host = host
        self.port = port
        self.token = token
        self.makeEncoder = makeEncoder
    }

    /// Applies the rates, the controller, the connection time-out and the servers of a configuration. Values that
    /// it does not state get its defaults; the time-out stays unchanged.
    ///
    /// - Parameter configuration: the configuration, such as one read by ``RTCConfiguration/init(json:file:)``.
    /// - Throws: ``InletError/Code/invalidConfiguration`` as ``RTCConfiguration/validate()`` does.
    public mutating func apply(_ configuration: RTCConfiguration) throws(InletError) {
        try configuration.validate()
        (rates, rateControl) = (configuration.rates, configuration.rateControl)
        (ice.fixed, ice.isRelayOnly) = (configuration.iceServers, configuration.isRelayOnly)
        (ice.shared, ice.secret) = ([], "")
        connectTimeout = configuration.connectionTimeout ?? connectTimeout
    }

    /// The sink's URI.
    public var redactedURI: String { "webrtc:\(host.contains(byte: ":") ? "[\(host)]" : host):\(port)" }

    /// Returns a sink with this configuration. Nothing is opened yet.
    public func makeSink() -> any FrameSink { WebRTCSink(self) }

    var access: AccessRule { AccessRule(host: host, port: port, token: token) }

    var endpoint: WHEPEndpoint {
        var endpoint = WHEPEndpoint()
        endpoint.path = endpointPath
        (endpoint.sessions, endpoint.sessionsPerClient) = (viewers, viewersPerClient)
        endpoint.origins = origins
        endpoint.servers = ice.list(for: "viewer", now: HostTime.seconds)
        return endpoint
    }

    /// The only address at which candidates are gathered; nil for all addresses of this machine.
    var gatheringAddress: String? {
        guard access.isLoopback, !reachesOut, ice.isEmpty else { return nil }
        return host.utf8.contains(UInt8(ascii: ":")) ? "::1" : "127.0.0.1"
    }

    /// Checks the configuration.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if pages of any site could watch without a token, and
    ///   for numbers that contradict each other.
    public func validate() throws(InletError) {
        try access.validate()
        try rates.validate()
        try ice.validate()
        try channels.validate()
        try admission.validate()
        try trackName.validate()
        guard connectTimeout > .zero else {
            throw InletError(.invalidConfiguration, "connect-timeout must be above 0, not \(connectTimeout).")
        }
        guard (1...3).contains(tiers) else {
            throw InletError(.invalidConfiguration, "The number of tiers must be 1 to 3, not \(tiers).")
        }
        guard !codecs.isEmpty else {
            throw InletError(.invalidConfiguration, "There is no codec to send. Try codecs=h264.")
        }
        guard (1...1000).contains(viewers), (1...1000).contains(viewersPerClient) else {
            throw InletError(
                .invalidConfiguration, "The limits on viewers are 1 to 1000, not \(viewers) or \(viewersPerClient)."
            )
        }
        guard access.token != nil || !origins.contains(where: { $0.isSameBytes(as: "*") }) else {
            throw InletError(
                .invalidConfiguration,
                "With origin=*, any page open in a browser on this machine could watch. Add token=SECRET, or name the site."
            )
        }
    }
}

#if WebRTC
    public import InletCore
    import InletHTTP
    public import InletRTC

    /// A page in a browser that shows the source by WebRTC, and an endpoint of WHEP: `webrtc:`, at
    /// http://127.0.0.1:8091/.
    ///
    /// One encoder serves all viewers. Nothing is encoded while there are none.
    public struct WebRTCSinkConfiguration: FrameSinkConfiguration {
        /// The address to listen at. The default is 127.0.0.1: this machine alone.
        public var host: String
        /// The port; 0 has the system choose one, which the log tells. The default is 8091.
        public var port: Int
        /// What everyone must show: as `?token=` or as a bearer token. The default, nil, is nothing at a loopback
        /// address; at any other a token is made, which the log tells with the page's address.
        public var token: String?
        /// Larger pictures are scaled down. The default is 1280x720.
        public var largestSize = ImageSize(width: 1280, height: 720)
        /// The most pictures a second. The default, nil, is all.
        public var frameRate: Rational?
        /// The bit rates, and how they follow loss. The slowest viewer on a tier sets what all on it get.
        public var rates = LossStepper.Settings()
        /// By what a viewer's bit rate is found. The default is ``RateControl/automatic``.
        public var rateControl = RateControl.automatic
        /// The codecs that are sent, the preferred ones first: a viewer gets the first that it takes. Those that cannot
        /// be encoded or packed here are left out. The default is H.264, VP8, VP9 and HEVC.
        public var codecs: [VideoCodec] = [.h264, .vp8, .vp9, .hevc]
        /// How many encodings of the source there may be for each codec: the full size, half of it, and a quarter. Each
        /// viewer is on the best that its path bears. From 1 to 3. The default is 3.
        public var tiers = 3
        /// Whether H.264 of the source goes to viewers as it is, without decoding, where it can: with start codes, of a
        /// profile that browsers know, in the order in which it is shown, no larger and no faster than viewers are to
        /// be sent, upright, and with a key frame every 2 seconds at least. The default is true.
        public var passesThrough = true
        /// Threads of each encoder. The default is 1, which is enough for 720p.
        public var threads = 1
        /// The most viewers at a time, from 1 to 1000. The default is 100.
        public var viewers = 100
        /// The most viewers at one address, or one network of IPv6, at a time, from 1 to 1000. Behind a proxy all are
        /// at one. The default is 25.
        public var viewersPerClient = 25
        /// Whether media goes by all addresses of this machine although ``host`` is a loopback address, as behind a
        /// proxy. The default is false: by loopback alone, unless there are STUN or TURN servers.
        public var reachesOut = false
        /// STUN and TURN servers, for this side and for viewers. The default is none.
        public var ice = ICEServers()
        /// Sites whose pages may show the picture besides this server's own: their origins, or `*`, which needs a
        /// token. The default is none.
        public var origins: [String] = []
        /// What is sent while the track is not enabled. The default is ``DisabledPicture/black``.
        public var disabledPicture = DisabledPicture.black
        /// How long the source may be silent before the track is unpublished: sessions end, and viewers are told that
        /// the camera is off until it is back. Nil for any time. The default is 30 seconds.
        public var patience: Duration? = .seconds(30)
        /// How much one viewer's data channels may take.
        public var channels = DataChannelLimits()
        /// What steers the track and speaks with viewers while the sink runs. Copies of a configuration share it.
        public let broadcast = WebRTCBroadcast()
        /// What viewers get of a track that is not enabled.
        public enum DisabledPicture: String, Sendable, Hashable, CaseIterable {
            /// Black in the size of the picture, a few times a second: players go on as if nothing were.
            case black
            /// Nothing: the picture before stays, where the player does not know better.
            case nothing = "none"
        }

        /// Makes an encoder, for one of ``codecs``; one that cannot says so when it is opened.
        public var makeEncoder: @Sendable () -> any VideoEncoder

        /// - Parameters:
        ///   - host: the address to listen at. The default is this machine alone.
        ///   - port: the port to listen at. The default is 8091.
        ///   - token: what everyone must show. The default, nil, has one made where others reach the server.
        ///   - makeEncoder: makes an encoder, such as `FFmpegVideoEncoder`.
        public init(
            host: String = "127.0.0.1", port: Int = 8091, token: String? = nil,
            makeEncoder: @escaping @Sendable () -> any VideoEncoder
        ) {
            self.host = host
            self.port = port
            self.token = token
            self.makeEncoder = makeEncoder
        }

        /// The sink by its URI.
        public var redactedURI: String { "webrtc:\(host.contains(byte: ":") ? "[\(host)]" : host):\(port)" }

        /// A sink of this configuration. Opens nothing yet.
        public func makeSink() -> any FrameSink { WebRTCSink(self) }

        var access: AccessRule { AccessRule(host: host, port: port, token: token) }

        var endpoint: WHEPEndpoint {
            var endpoint = WHEPEndpoint()
            (endpoint.sessions, endpoint.sessionsPerClient) = (viewers, viewersPerClient)
            endpoint.origins = origins
            endpoint.servers = ice.list(for: "viewer", now: SystemTime.seconds)
            return endpoint
        }

        /// Where candidates are gathered alone; nil for all addresses of this machine.
        var gatheringAddress: String? {
            guard access.isLoopback, !reachesOut, ice.isEmpty else { return nil }
            return host.utf8.contains(UInt8(ascii: ":")) ? "::1" : "127.0.0.1"
        }

        /// - Throws: ``InletError/Code/invalidConfiguration`` where pages of any site could look without a token, and
        ///   for numbers that contradict each other.
        public func validate() throws(InletError) {
            try access.validate()
            try rates.validate()
            try ice.validate()
            try channels.validate()
            guard (1...3).contains(tiers) else {
                throw InletError(.invalidConfiguration, "There are 1 to 3 tiers, not \(tiers).")
            }
            guard !codecs.isEmpty else {
                throw InletError(.invalidConfiguration, "There is no codec to send. Try codecs=h264.")
            }
            guard (1...1000).contains(viewers), (1...1000).contains(viewersPerClient) else {
                throw InletError(
                    .invalidConfiguration, "There are 1 to 1000 viewers, not \(viewers) or \(viewersPerClient).")
            }
            guard access.token != nil || !origins.contains(where: { $0.isSameBytes(as: "*") }) else {
                throw InletError(
                    .invalidConfiguration,
                    "With origin=* every page that a browser here shows could look. Add token=SECRET, or name the site."
                )
            }
        }
    }
#endif

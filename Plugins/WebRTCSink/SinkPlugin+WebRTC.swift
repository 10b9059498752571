#if WebRTC
    public import InletCore
    import InletHTTP
    import InletRTC

    extension SinkPlugin {
        /// `webrtc:[HOST:PORT]`
        ///
        /// - Parameter makeEncoder: makes the encoder, such as `FFmpegVideoEncoder`.
        public static func webRTC(makeEncoder: @escaping @Sendable () -> any VideoEncoder) -> SinkPlugin {
            SinkPlugin(
                PluginInfo(
                    name: "WebRTCSink", schemes: ["webrtc"],
                    summary: "A web page that shows the source with little delay, and an endpoint of WHEP.",
                    usage: "webrtc:[HOST:PORT], by default 127.0.0.1:8091",
                    options: [WebRTCOptions.token.description] + PictureOptions.descriptions + [
                        WebRTCOptions.rate.description, WebRTCOptions.codecs.description,
                        WebRTCOptions.tiers.description, WebRTCOptions.passThrough.description,
                        WebRTCOptions.viewers.description, WebRTCOptions.perClient.description,
                        WebRTCOptions.origin.description, WebRTCOptions.reachesOut.description,
                    ] + ICEOptions.descriptions,
                    examples: [
                        "webrtc:", "webrtc:127.0.0.1:9000?bitrate=4000000",
                        "webrtc:0.0.0.0:8091", "webrtc:0.0.0.0:8091?token-file=/run/secrets/viewers",
                    ])
            ) { uri, values in
                var configuration = WebRTCSinkConfiguration(makeEncoder: makeEncoder)
                let place = try ListenAddress(uri.rest, scheme: "webrtc")
                configuration.host = place.host ?? configuration.host
                configuration.port = place.port ?? configuration.port
                configuration.token = values[WebRTCOptions.token]
                configuration.largestSize = values[PictureOptions.largest]
                configuration.frameRate = values[PictureOptions.fps]
                configuration.rates = PictureOptions.rates(values)
                configuration.rateControl = values[WebRTCOptions.rate]
                configuration.codecs = values[WebRTCOptions.codecs].split(atByte: ",").map {
                    VideoCodec(rawValue: String($0))
                }
                configuration.tiers = values[WebRTCOptions.tiers]
                configuration.passesThrough = values[WebRTCOptions.passThrough]
                configuration.viewers = values[WebRTCOptions.viewers]
                configuration.viewersPerClient = values[WebRTCOptions.perClient]
                configuration.reachesOut = values[WebRTCOptions.reachesOut]
                configuration.threads = values[PictureOptions.threads]
                configuration.origins = values[WebRTCOptions.origin].map { [$0] } ?? []
                configuration.ice = try ICEOptions.servers(values)
                try configuration.validate()
                return configuration
            }
        }
    }

    private enum WebRTCOptions {
        static let token = PluginOption.secret(
            "token", "What everyone must show; made where others reach the server and none is given")
        static let rate = PluginOption("rate", default: RateControl.automatic, "By what the bit rate is found")
        static let passThrough = PluginOption(
            "pass-through", default: true, "Send H.264 of the source as it is, where it can be")
        static let codecs = PluginOption(
            "codecs", default: "h264,vp8,vp9,hevc", "The first that a viewer takes is sent",
            range: "h264, vp8, vp9, hevc, by commas",
            isAllowed: { text in
                let known: Set<Substring> = ["h264", "vp8", "vp9", "hevc"]
                let words = text.split(atByte: ",")
                return words.allSatisfy(known.contains) && Set(words).count == words.count
            })
        static let tiers = PluginOption(
            "tiers", default: 3, in: 1...3, "Encodings of one source, each for viewers of a speed")
        static let viewers = PluginOption("viewers", default: 100, in: 1...1000, "The most viewers at a time")
        static let perClient = PluginOption(
            "per-client", default: 25, in: 1...1000, "The most viewers at one address; behind a proxy all are at one")
        static let reachesOut = PluginOption(
            "reach-out", default: false, "At a loopback address, send by all addresses of this machine: behind a proxy")
        static let origin = PluginOption<String?>(
            "origin", default: nil, "A site whose pages may show the picture, such as https://example.org, or *")
    }
#endif

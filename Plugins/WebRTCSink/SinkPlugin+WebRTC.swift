#if WebRTC
    public import InletCore
    import InletHTTP
    import InletRTC
    import InletWebRTC

    extension SinkPlugin {
        /// Returns the plug-in for `webrtc:[HOST:PORT]`.
        ///
        /// - Parameter makeEncoder: returns an encoder, such as `FFmpegVideoEncoder`.
        public static func webRTC(makeEncoder: @escaping @Sendable () -> any VideoEncoder) -> SinkPlugin {
            let defaults = WebRTCSinkConfiguration(makeEncoder: makeEncoder)
            let options = WebRTCOptions(defaults)
            return SinkPlugin(
                PluginInfo(
                    name: "WebRTCSink", schemes: ["webrtc"],
                    summary: "A web page that shows the source with little delay, and an endpoint of WHEP.",
                    usage: "webrtc:[HOST:PORT], by default \(defaults.host):\(defaults.port)",
                    options: options.descriptions,
                    examples: [
                        "webrtc:", "webrtc:127.0.0.1:9000?bitrate=4000000",
                        "webrtc:0.0.0.0:8091", "webrtc:0.0.0.0:8091?token-file=/run/secrets/viewers",
                    ])
            ) { uri, values in
                var configuration = WebRTCSinkConfiguration(makeEncoder: makeEncoder)
                let place = try ListenAddress(uri.rest, scheme: "webrtc")
                configuration.host = place.host ?? configuration.host
                configuration.port = place.port ?? configuration.port
                configuration.token = values[options.token]
                configuration.largestSize = values[options.pictures.largest]
                configuration.frameRate = values[options.pictures.maximumRate]
                configuration.codecs = values[options.codecs].split(atByte: ",").map {
                    VideoCodec(rawValue: String($0))
                }
                configuration.tiers = values[options.tiers]
                configuration.passesThrough = values[options.pictures.passThrough]
                configuration.trackName = options.pictures.trackName(values)
                configuration.viewers = values[options.viewers]
                configuration.viewersPerClient = values[options.perClient]
                configuration.reachesOut = values[options.reachesOut]
                configuration.threads = values[options.pictures.threads]
                configuration.origins = values[options.origin].map { [$0] } ?? []
                let (connection, servers) = try options.connection.read(values)
                try configuration.apply(connection)
                configuration.ice = servers
                try configuration.validate()
                return configuration
            }
        }
    }

    private struct WebRTCOptions: Sendable {
        let token = PluginOption.secret(
            "token", "What everyone must show; made where others reach the server and none is given")
        let codecs: PluginOption<String>
        let tiers: PluginOption<Int>
        let viewers: PluginOption<Int>
        let perClient: PluginOption<Int>
        let reachesOut: PluginOption<Bool>
        let origin = PluginOption<String?>(
            "origin", default: nil, "A site whose pages may show the picture, such as https://example.org, or *")
        let pictures: PictureOptions
        let connection: ConnectionOptions

        init(_ defaults: WebRTCSinkConfiguration) {
            codecs = PluginOption(
                "codecs", default: defaults.codecs.map(\.rawValue).joined(separator: ","),
                "The first that a viewer takes is sent", range: "h264, vp8, vp9, hevc, by commas",
                isAllowed: { text in
                    let known: Set<Substring> = ["h264", "vp8", "vp9", "hevc"]
                    let words = text.split(atByte: ",")
                    return words.allSatisfy(known.contains) && Set(words).count == words.count
                })
            tiers = PluginOption(
                "tiers", default: defaults.tiers, in: 1...3, "Encodings of one source, each for viewers of a speed")
            viewers = PluginOption(
                "viewers", default: defaults.viewers, in: 1...1000, "The most viewers at a time")
            perClient = PluginOption(
                "per-client", default: defaults.viewersPerClient, in: 1...1000,
                "The most viewers at one address; behind a proxy all are at one")
            reachesOut = PluginOption(
                "reach-out", default: defaults.reachesOut,
                "At a loopback address, send by all addresses of this machine: behind a proxy")
            pictures = PictureOptions(largestSize: defaults.largestSize, threads: defaults.threads)
            connection = ConnectionOptions(
                maximum: defaults.rates.maximum, control: defaults.rateControl, timeout: defaults.connectTimeout,
                "How long a viewer's session may take from the answer to media")
        }

        var descriptions: [PluginOptionDescription] {
            [token.description] + pictures.descriptions + connection.descriptions + [
                codecs.description, tiers.description, viewers.description, perClient.description, origin.description,
                reachesOut.description,
            ] + ICEOptions.descriptions
        }
    }
#endif

#if WebRTC
    public import InletCore
    import InletRTC
    import InletWebRTC

    extension SinkPlugin {
        /// Returns the plug-in for `whip+https://HOST/PATH`.
        ///
        /// - Parameter makeEncoder: returns the encoder, such as `FFmpegVideoEncoder`.
        public static func whip(makeEncoder: @escaping @Sendable () -> any VideoEncoder) -> SinkPlugin {
            let options = WHIPOptions(WHIPSinkConfiguration("", makeEncoder: makeEncoder))
            return SinkPlugin(
                PluginInfo(
                    name: "WHIP", schemes: ["whip+https", "whip+http"],
                    summary: "Publishes to a media server by WebRTC.",
                    usage: "whip+https://HOST/PATH; options that are not listed stay in the address",
                    options: options.descriptions,
                    examples: [
                        "whip+https://media.example/live/whip?token-file=/run/secrets/media",
                        "whip+http://127.0.0.1:8889/camera/whip?bitrate=4000000",
                    ], takesOtherOptions: true)
            ) { uri, values in
                var configuration = WHIPSinkConfiguration(
                    PluginURI.address("\(uri.scheme.dropFirst("whip+".count)):\(uri.rest)", values.others),
                    makeEncoder: makeEncoder)
                configuration.token = values[options.token]
                configuration.largestSize = values[options.pictures.largest]
                configuration.frameRate = values[options.pictures.maximumRate]
                configuration.rates = options.pictures.rates(values)
                configuration.threads = values[options.pictures.threads]
                configuration.codec = VideoCodec(rawValue: values[options.codec])
                configuration.connectTimeout = values[options.connectTimeout]
                configuration.ice = try ICEOptions.servers(values)
                try configuration.validate()
                return configuration
            }
        }
    }

    private struct WHIPOptions: Sendable {
        let token = PluginOption.secret("token", "The bearer token")
        let codec: PluginOption<String>
        let connectTimeout: PluginOption<Duration>
        let pictures: PictureOptions

        init(_ defaults: WHIPSinkConfiguration) {
            codec = PluginOption(
                "codec", default: defaults.codec.rawValue, "What is sent", range: "h264, vp8, vp9 or hevc",
                isAllowed: { ["h264", "vp8", "vp9", "hevc"].contains($0) })
            connectTimeout = PluginOption(
                "connect-timeout", default: defaults.connectTimeout, in: .milliseconds(10) ... .seconds(3600),
                "How long the first session may take to come up")
            pictures = PictureOptions(
                largestSize: defaults.largestSize, rates: defaults.rates, threads: defaults.threads)
        }

        var descriptions: [PluginOptionDescription] {
            [token.description, codec.description, connectTimeout.description] + pictures.descriptions
                + ICEOptions.descriptions
        }
    }
#endif

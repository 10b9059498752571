#if WebRTC
    public import InletCore
    import InletRTC

    extension SinkPlugin {
        /// `whip+https://HOST/PATH`
        ///
        /// - Parameter makeEncoder: makes the encoder, such as `FFmpegVideoEncoder`.
        public static func whip(makeEncoder: @escaping @Sendable () -> any VideoEncoder) -> SinkPlugin {
            SinkPlugin(
                PluginInfo(
                    name: "WHIP", schemes: ["whip+https", "whip+http"],
                    summary: "Publishes to a media server by WebRTC.",
                    usage: "whip+https://HOST/PATH; options that are not listed stay in the address",
                    options: WHIPOptions.descriptions,
                    examples: [
                        "whip+https://media.example/live/whip?token-file=/run/secrets/media",
                        "whip+http://127.0.0.1:8889/camera/whip?bitrate=4000000",
                    ], takesOtherOptions: true)
            ) { uri, values in
                var configuration = WHIPSinkConfiguration(
                    PluginURI.address("\(uri.scheme.dropFirst("whip+".count)):\(uri.rest)", values.others),
                    makeEncoder: makeEncoder)
                configuration.token = values[WHIPOptions.token]
                configuration.largestSize = values[PictureOptions.largest]
                configuration.frameRate = values[PictureOptions.fps]
                configuration.rates = PictureOptions.rates(values)
                configuration.threads = values[PictureOptions.threads]
                configuration.codec = VideoCodec(rawValue: values[WHIPOptions.codec])
                configuration.ice = try ICEOptions.servers(values)
                try configuration.validate()
                return configuration
            }
        }
    }

    private enum WHIPOptions {
        static let token = PluginOption.secret("token", "The bearer token")
        static let codec = PluginOption(
            "codec", default: "h264", "What is sent", range: "h264, vp8, vp9 or hevc",
            isAllowed: { ["h264", "vp8", "vp9", "hevc"].contains($0) })
        static let descriptions =
            [token.description, codec.description] + PictureOptions.descriptions + ICEOptions.descriptions
    }
#endif

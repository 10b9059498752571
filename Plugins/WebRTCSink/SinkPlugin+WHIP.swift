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
                        "whip+https://media.example/live/whip?token=let-me-in",
                        "whip+http://127.0.0.1:8889/camera/whip?bitrate=4000000",
                    ], takesOtherOptions: true)
            ) { uri, values in
                do throws(InletError) {
                    var configuration = WHIPSinkConfiguration(url(uri), makeEncoder: makeEncoder)
                    configuration.token = values[WHIPOptions.token]
                    configuration.largestSize = values[PictureOptions.largest]
                    configuration.frameRate = values[PictureOptions.fps]
                    configuration.rates = PictureOptions.rates(values)
                    configuration.threads = values[PictureOptions.threads]
                    configuration.codec = VideoCodec(rawValue: values[WHIPOptions.codec])
                    configuration.ice = try ICEOptions.servers(values)
                    try configuration.validate()
                    return configuration
                } catch {
                    throw error.about(uri.redacted)
                }
            }
        }

        /// The address, with the options that are not ours in its query; `query.NAME` stands for NAME, where that is an option's.
        private static func url(_ uri: PluginURI) -> String {
            let address = "\(uri.scheme.dropFirst("whip+".count)):\(uri.rest)"
            let query = uri.options.filter { !WHIPOptions.names.contains($0.name) }.map { option in
                option.text.hasPrefix("query.") ? option.text.dropFirst("query.".count) : option.text[...]
            }
            return query.isEmpty ? address : address + "?" + query.joined(separator: "&")
        }
    }

    private enum WHIPOptions {
        static let token = PluginOption<String?>("token", default: nil, "The bearer token")
        static let codec = PluginOption(
            "codec", default: "h264", "What is sent", range: "h264, vp8, vp9 or hevc",
            isAllowed: { ["h264", "vp8", "vp9", "hevc"].contains($0) })
        static let descriptions =
            [token.description, codec.description] + PictureOptions.descriptions + ICEOptions.descriptions
        static let names = Set(descriptions.map(\.name))
    }
#endif

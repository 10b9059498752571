public import InletCore
import InletRTC
import WebRTCEngine

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
                usage: "whip+https://HOST/PATH; unlisted options stay in the address",
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
            options.pictures.apply(values, to: &configuration)
            configuration.codec = VideoCodec(rawValue: values[options.codec])
            let (connection, servers) = try options.connection.read(values)
            try configuration.apply(connection)
            configuration.ice = servers
            try configuration.validate()
            return configuration
        }
    }
}

private struct WHIPOptions: Sendable {
    let token = PluginOption.secret("token", "The bearer token")
    let codec: PluginOption<String>
    let pictures: PictureOptions
    let connection: ConnectionOptions

    init(_ defaults: WHIPSinkConfiguration) {
        codec = PluginOption(
            "codec", default: defaults.codec.rawValue, "The codec to send", range: "h264, vp8, vp9 or hevc",
            isAllowed: { ["h264", "vp8", "vp9", "hevc"].contains($0) })
        connection = ConnectionOptions(
            maximum: defaults.rates.maximum, control: defaults.rateControl, timeout: defaults.connectTimeout,
            "How long the first session may take to connect")
        pictures = PictureOptions(largestSize: defaults.largestSize, threads: defaults.threads)
    }

    var descriptions: [PluginOptionDescription] {
        [token.description, codec.description] + pictures.descriptions + connection.descriptions
            + ICEOptions.descriptions
    }
}

public import InletCore
import InletRTC
import WebRTCEngine

extension SinkPlugin {
    /// Returns the plug-in for `janus+wss://HOST/?room=ROOM`.
    ///
    /// - Parameter makeEncoder: returns the encoder, such as `FFmpegVideoEncoder`.
    public static func janus(makeEncoder: @escaping @Sendable () -> any VideoEncoder) -> SinkPlugin {
        let options = JanusSinkOptions(WHIPSinkConfiguration("", makeEncoder: makeEncoder))
        return SinkPlugin(
            PluginInfo(
                name: "JanusSink", schemes: ["janus+wss", "janus+ws"],
                summary: "Publishes to a room of the media server Janus by WebRTC.",
                usage: "janus+wss://HOST[:PORT]/[PATH]?room=ROOM", options: options.descriptions,
                examples: [
                    "janus+wss://media.example/janus?room=1234&pin-file=/run/secrets/room",
                    "janus+ws://127.0.0.1:8188/?room=1234&display=door",
                ])
        ) { uri, values in
            let room = JanusOptions.room(uri, values)
            var configuration = JanusSinkConfiguration(room, makeEncoder: makeEncoder)
            configuration.id = values[options.id]
            configuration.display = values[options.display]
            options.pictures.apply(values, to: &configuration.publishing)
            configuration.publishing.codec = VideoCodec(rawValue: values[options.codec])
            let (connection, servers) = try options.connection.read(values)
            try configuration.publishing.apply(connection)
            configuration.publishing.ice = servers
            try configuration.validate()
            return configuration
        }
    }
}

private struct JanusSinkOptions: Sendable {
    let id = PluginOption<String?>(
        "id", default: nil, "This side's identifier in the room; by default the server chooses one")
    let display = PluginOption<String?>("display", default: nil, "The name that others see")
    let codec: PluginOption<String>
    let pictures: PictureOptions
    let connection: ConnectionOptions

    init(_ defaults: WHIPSinkConfiguration) {
        codec = PluginOption(
            "codec", default: defaults.codec.rawValue, "The codec to send, which the room must allow",
            range: "h264, vp8, vp9 or hevc", isAllowed: { ["h264", "vp8", "vp9", "hevc"].contains($0) })
        connection = ConnectionOptions(
            maximum: defaults.rates.maximum, control: defaults.rateControl, timeout: defaults.connectTimeout,
            "How long the first session may take to connect")
        pictures = PictureOptions(largestSize: defaults.largestSize, threads: defaults.threads)
    }

    var descriptions: [PluginOptionDescription] {
        JanusOptions.descriptions + [id.description, display.description, codec.description]
            + pictures.descriptions + connection.descriptions + ICEOptions.descriptions
    }
}

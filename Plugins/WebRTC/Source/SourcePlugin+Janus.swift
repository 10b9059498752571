public import InletCore
import WebRTCEngine

extension SourcePlugin {
    /// The plug-in for `janus+wss://HOST/?room=ROOM`: the stream of a participant in a room of Janus.
    public static let janus = SourcePlugin(
        PluginInfo(
            name: "JanusSource", schemes: ["janus+wss", "janus+ws"],
            summary: "The stream of a participant in a room of the media server Janus.",
            usage: "janus+wss://HOST[:PORT]/[PATH]?room=ROOM",
            options: JanusOptions.descriptions + [feed.description, display.description]
                + TrackOptions.descriptions,
            examples: [
                "janus+wss://media.example/janus?room=1234&pin-file=/run/secrets/room",
                "janus+ws://127.0.0.1:8188/?room=1234&display=door",
            ])
    ) { uri, values in
        var configuration = JanusSourceConfiguration(JanusOptions.room(uri, values))
        configuration.feed = values[feed]
        configuration.display = values[display]
        configuration.track = try TrackOptions.settings(values)
        try configuration.validate()
        return configuration
    }

    private static let feed = PluginOption<String?>("feed", default: nil, "The identifier of the publisher")
    private static let display = PluginOption<String?>(
        "display", default: nil, "The name of the publisher, if feed is not set; by default the first one")
}

#if !GStreamer
extension SinkPlugin {
    /// A placeholder for the sinks of the trait GStreamer in a build without it, whose error explains how to get them.
    static var webRTCIsAbsent: SinkPlugin {
        SinkPlugin(
            PluginInfo(
                name: "WebRTCSink", schemes: ["webrtc", "whip+http", "whip+https"],
                summary: "Video to browsers. Not in this build, which was made without the trait GStreamer.",
                usage: "webrtc:[HOST:PORT]", options: [], examples: [], takesOtherOptions: true)
        ) { _, _ in
            throw InletError(
                .unsupported,
                "This build has no WebRTC. Install GStreamer by Scripts/bootstrap --webrtc, and build with swift build --traits GStreamer; a package that depends on Inlet names the trait: .package(..., traits: [\"GStreamer\"])."
            )
        }
    }
}
#endif

#if !WebRTC
    extension SinkPlugin {
        /// What stands for the sinks of the trait WebRTC in a build without it, so that who asks for them learns how to
        /// have them.
        static var webRTCIsAbsent: SinkPlugin {
            SinkPlugin(
                PluginInfo(
                    name: "WebRTCSink", schemes: ["webrtc", "whip+http", "whip+https"],
                    summary: "Not in this build, which was made without the trait WebRTC: pictures to browsers.",
                    usage: "webrtc:[HOST:PORT]", options: [], examples: [], takesOtherOptions: true)
            ) { _, _ in
                throw InletError(
                    .unsupported,
                    "This build has no WebRTC. Install GStreamer by Scripts/bootstrap --webrtc, and build with swift build --traits WebRTC; a package that depends on Inlet names the trait: .package(..., traits: [\"WebRTC\"])."
                )
            }
        }
    }
#endif

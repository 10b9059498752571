public import InletCore
import InletDecode
import InletFFmpeg

extension SourcePlugin {
    /// The plug-in for `rtspcap:FILE`: captures of RTSP sessions.
    public static let rtspCapture = SourcePlugin(
        PluginInfo(
            name: "rtspcap", schemes: ["rtspcap"],
            summary: "Captures of RTSP sessions, written by inlet capture.",
            usage: "rtspcap:FILE?pace=none", options: RTSPCaptureOptions.all,
            examples: ["rtspcap:camera.rtspcap", "rtspcap:camera.rtspcap?pace=realtime"])
    ) { uri, values in
        guard !uri.rest.isEmpty else {
            throw InletError(.invalidConfiguration, "Add the path of a capture, such as rtspcap:camera.rtspcap.")
        }
        var configuration = RTSPCaptureConfiguration(path: uri.rest)
        configuration.pace = values[RTSPCaptureOptions.pace]
        configuration.damage = values[NetworkSourceOptions.damage]
        configuration.maximumSize = values[NetworkSourceOptions.maximumSize]
        configuration.threads = values[RTSPCaptureOptions.threads]
        configuration.decoder = values[NetworkSourceOptions.decoder]
        return configuration
    }
}

private enum RTSPCaptureOptions {
    static let pace = PluginOption(
        "pace", default: RTSPCaptureConfiguration(path: "").pace,
        "realtime plays at the times of the capture, none as fast as frames are taken")
    static let threads = PluginOption(
        "threads", default: 0, in: 0...64, "Decoding threads; 0 is one per core")

    static let all = [
        pace.description, NetworkSourceOptions.damage.description, NetworkSourceOptions.maximumSize.description,
        threads.description, NetworkSourceOptions.decoder.description,
    ]
}

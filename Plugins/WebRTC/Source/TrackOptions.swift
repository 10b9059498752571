import InletCore
import InletDecode
import WebRTCEngine

/// The options of all WebRTC sources.
enum TrackOptions {
    private typealias Shared = NetworkSourceOptions
    private static let defaults = TrackSettings()

    static let codec = PluginOption(
        "codec", default: defaults.codec.rawValue, "The codec to receive", range: "h264, vp8, vp9, av1 or hevc",
        isAllowed: { ["h264", "vp8", "vp9", "av1", "hevc"].contains($0) })
    static let latency = PluginOption(
        "latency", default: defaults.latency, in: .zero ... .seconds(10),
        "How long to wait for a missing packet, which is requested again")
    static let connectTimeout = PluginOption(
        "connect-timeout", default: defaults.connectTimeout, in: .milliseconds(10) ... .seconds(3600),
        "How long a session may take to connect")
    static let firstTimeout = PluginOption(
        "first-timeout", default: defaults.firstTimeout, in: .milliseconds(10) ... .seconds(3600),
        "How long the first picture of a session may take")

    static var descriptions: [PluginOptionDescription] {
        [
            codec.description, latency.description, connectTimeout.description, firstTimeout.description,
            Shared.readTimeout.description, Shared.damage.description, Shared.maximumSize.description,
            Shared.maximumFrameRate.description, Shared.maximumLag.description, Shared.threads.description,
            Shared.decoder.description,
        ] + ICEOptions.descriptions
    }

    static func settings(_ values: PluginOptionValues) throws(InletError) -> TrackSettings {
        var settings = TrackSettings()
        settings.codec = VideoCodec(rawValue: values[codec])
        settings.latency = values[latency]
        settings.connectTimeout = values[connectTimeout]
        settings.firstTimeout = values[firstTimeout]
        settings.readTimeout = values[Shared.readTimeout]
        settings.damage = values[Shared.damage]
        settings.maximumSize = values[Shared.maximumSize]
        settings.maximumFrameRate = values[Shared.maximumFrameRate]
        settings.maximumLag = values[Shared.maximumLag]
        settings.threads = values[Shared.threads]
        settings.decoder = values[Shared.decoder]
        settings.ice = try ICEOptions.servers(values)
        return settings
    }
}

import InletCore
import InletRTC

/// The options for the pictures of peers, with the defaults of a configuration.
struct PictureOptions: Sendable {
    let largest: PluginOption<ImageSize>
    let maximumRate: PluginOption<Rational?>
    let threads: PluginOption<Int>
    let passThrough = PluginOption(
        "pass-through", default: true, "Forward H.264 of the source without encoding, if possible")
    let stream = PluginOption("stream", default: TrackName().stream, "The stream's name for peers (msid)")
    let track = PluginOption("track", default: TrackName().track, "The track's name for peers (msid)")

    init(largestSize: ImageSize, threads defaultThreads: Int) {
        largest = PluginOption(
            "max-size", default: largestSize,
            in: ImageSize(width: 64, height: 64)...ImageSize(width: 7680, height: 7680),
            "Scale larger pictures down to fit", unit: "pixels"
        ).formerly("largest")
        maximumRate = PluginOption<Rational?>(
            "max-fps", default: nil, "The maximum number of pictures per second", range: "above 0 to 240",
            isAllowed: { $0.map { $0 > Rational(0) && $0 <= Rational(240) } ?? true }
        ).formerly("fps")
        threads = PluginOption(
            "threads", default: defaultThreads, in: EncoderSettings.threadCounts,
            "Encoding threads; 0 lets the encoder choose")
    }

    var descriptions: [PluginOptionDescription] {
        [
            largest.description, maximumRate.description, threads.description, passThrough.description,
            stream.description, track.description,
        ]
    }

    /// Copies the values into the configuration of a publisher.
    func apply(_ values: PluginOptionValues, to configuration: inout WHIPSinkConfiguration) {
        configuration.largestSize = values[largest]
        configuration.frameRate = values[maximumRate]
        configuration.threads = values[threads]
        configuration.passesThrough = values[passThrough]
        configuration.trackName = trackName(values)
    }

    func trackName(_ values: PluginOptionValues) -> TrackName {
        TrackName(stream: values[stream], track: values[track])
    }
}

import InletCore
import InletFFmpeg
import InletOutput

/// The options of this plug-in's URIs.
enum FFmpegSinkOptions {
    /// A codec's name, checked against the known ones.
    struct CodecName: OptionValue {
        /// The codec; nil for `copy`.
        var codec: VideoCodec?

        init?(optionText: String) {
            guard optionText != Self.copy else { return }
            let codec = VideoCodec(rawValue: optionText)
            guard EncoderTuning.codecs.contains(codec) else { return nil }
            self.codec = codec
        }
        var optionText: String { codec?.rawValue ?? Self.copy }
        static var typeDescription: String {
            (EncoderTuning.codecs.map(\.rawValue) + [copy]).joined(separator: " | ")
        }
        private static let copy = "copy"
    }

    private static let encoder = EncoderSettings()
    private static let output = FFmpegOutput(.mp4, to: "")

    static let codec = PluginOption<CodecName?>(
        "codec", default: nil, "The codec, or copy for the source's own packets; the default is h264, or vp9 for WebM"
    )
    static let bitrate = PluginOption<ScaledCount?>(
        "bitrate", default: nil, "The average bit rate", unit: "bits a second", range: "1k to 1G"
    ) { $0.map { EncoderSettings.bitrates.contains($0.value) } ?? true }
    static let quality = PluginOption<Int?>(
        "quality", default: nil, "A constant quality instead of a bit rate; 100 is the best", range: "1 to 100"
    ) { $0.map(EncoderSettings.qualities.contains) ?? true }
    static let preset = PluginOption(
        "preset", default: encoder.preset, "Whether the encoder favours low delay or small files")
    static let gop = PluginOption(
        "gop", default: encoder.keyFrameInterval, in: .milliseconds(1) ... .seconds(3600),
        "The time from one key frame to the next")
    static let threads = PluginOption(
        "threads", default: encoder.threads, in: EncoderSettings.threadCounts,
        "Encoding threads; 0 lets the encoder choose")
    static let segment = PluginOption<Duration?>(
        "segment", default: nil,
        "The duration of a file, or of an HLS segment (at least 1s, 2s by default)",
        range: "100ms to 86400s"
    ) { $0.map { (Duration.milliseconds(100) ... .seconds(86_400)).contains($0) } ?? true }
    static let segmentSize = PluginOption<ScaledCount?>(
        "segment-size", default: nil, "The size of a file", unit: "bytes", range: "10k or more"
    ) { $0.map { $0.value >= 10_000 } ?? true }
    static let keepSize = PluginOption<ScaledCount?>(
        "keep-size", default: nil, "Delete the oldest files of the name pattern while all together exceed this size",
        unit: "bytes", range: "10k or more"
    ) { $0.map { $0.value >= 10_000 } ?? true }
    static let keepAge = PluginOption<Duration?>(
        "keep-age", default: nil, "Delete files of the name pattern this long after their completion",
        range: "1s or more"
    ) { $0.map { $0 >= .seconds(1) } ?? true }
    static let playlist = PluginOption(
        "playlist", default: output.playlistLength, in: 0...100_000,
        "Segments in an HLS playlist; older ones are deleted; 0 keeps all")
    static let transport = PluginOption(
        "transport", default: output.transport, "The transport of the media in RTSP")
    static let user = PluginOption<String?>("user", default: nil, "The user, instead of the one in the address")
        .only(for: "rtmp", "rtmps", "rtsp", "rtsps")
    static let password = PluginOption.secret("password", "The password, instead of the one in the address")
        .only(for: "rtmp", "rtmps", "rtsp", "rtsps")
    static let key = PluginOption.secret("key", "The stream key, which follows the application in the address")
        .only(for: "rtmp", "rtmps")
    static let passphrase = PluginOption.secret("passphrase", "The SRT passphrase").only(for: "srt")
    static let streamID = PluginOption.secret(
        "streamid", "The SRT stream ID, which may contain credentials"
    ).only(for: "srt")
    static let connectTimeout = PluginOption(
        "connect-timeout", default: output.connectTimeout, in: .milliseconds(10) ... .seconds(3600),
        "How long connecting may take")
    static let writeTimeout = PluginOption(
        "write-timeout", default: output.writeTimeout, in: .milliseconds(10) ... .seconds(3600),
        "How long the server may take to accept a packet")

    static let filters = PictureFilterOptions(default: [])

    static let encoding =
        [
            codec.description, bitrate.description, quality.description, preset.description, gop.description,
            threads.description,
        ] + filters.descriptions
    static let files = [
        segment.description, segmentSize.description, keepSize.description, keepAge.description, playlist.description,
        NewFile.mode.description,
    ]
    static let connection = [
        user.description, password.description, key.description, passphrase.description, streamID.description,
        transport.description, CertificateCheck.authorities.description, CertificateCheck.verify.description,
        connectTimeout.description, writeTimeout.description,
    ]

    static let networks: [(scheme: String, container: FFmpegContainer)] = [
        ("rtmp", .rtmp), ("rtmps", .rtmp), ("rtsp", .rtsp), ("rtsps", .rtsp), ("srt", .srt), ("udp", .udp),
    ]

    /// Returns the configuration of a sink that writes to an output according to the options.
    static func configuration(
        _ values: PluginOptionValues, to output: FFmpegOutput
    ) throws(InletError) -> any FrameSinkConfiguration {
        guard let name = values[codec], name.codec == nil else {
            var configuration = try FFmpegSinkConfiguration(settings(values, output.container), to: output)
            configuration.filters = filters.value(in: values)
            return configuration
        }
        guard values[bitrate] == nil, values[quality] == nil, filters.value(in: values).isEmpty else {
            throw InletError(
                .invalidConfiguration,
                "codec=copy writes packets unchanged. Leave out bitrate, quality, deinterlace and tone-map.",
                context: .init(subject: output.redactedURI))
        }
        return try FFmpegCopyConfiguration(to: output)
    }

    private static func settings(
        _ values: PluginOptionValues, _ container: FFmpegContainer
    ) throws(InletError) -> EncoderSettings {
        var settings = EncoderSettings(
            codec: values[codec]?.codec ?? container.codecs.first ?? .h264, preset: values[preset],
            keyFrameInterval: values[gop], threads: values[threads])
        switch (values[bitrate], values[quality]) {
        case (nil, nil): break
        case (let bits?, nil): settings.rate = .bitrate(bits.value)
        case (nil, let quality?): settings.rate = .quality(quality)
        case (_?, _?):
            throw InletError(
                .invalidConfiguration, "Set either bitrate or quality, not both.")
        }
        return settings
    }
}

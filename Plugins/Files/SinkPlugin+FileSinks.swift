public import InletCore
import InletOutput

extension SinkPlugin {
    /// The plug-in for `null:`.
    public static let null = SinkPlugin(
        PluginInfo(
            name: "NullSink", schemes: ["null"], summary: "Discards every frame.", usage: "null:", options: [],
            examples: ["null:"])
    ) { uri, _ in
        guard uri.rest.isEmpty else {
            throw InletError(.invalidConfiguration, "null: takes no path. Write only null:.")
        }
        return NullSinkConfiguration()
    }

    /// The plug-in for `i420:PATH`.
    public static let i420 = file(
        "I420Sink", scheme: "i420", summary: "Writes the planes of each picture, without padding or headers.",
        suffix: "yuv"
    ) {
        var configuration = I420SinkConfiguration(path: $0, mode: $1)
        configuration.filters = $2
        return configuration
    }

    /// The plug-in for `y4m:PATH`.
    public static let y4m = file(
        "Y4MSink", scheme: "y4m", summary: "Writes YUV4MPEG2, as FFmpeg's yuv4mpegpipe does.", suffix: "y4m"
    ) {
        var configuration = Y4MSinkConfiguration(path: $0, mode: $1)
        configuration.filters = $2
        return configuration
    }

    /// The plug-in for `framemd5:PATH`.
    public static let framemd5 = file(
        "FrameMD5Sink", scheme: "framemd5",
        summary: "Writes the PTS and MD5 sum of each picture, as FFmpeg's framemd5 does.", suffix: "framemd5"
    ) {
        var configuration = FrameMD5SinkConfiguration(path: $0, mode: $1)
        configuration.filters = $2
        return configuration
    }

    private static let filters = PictureFilterOptions(default: [])

    private static func file(
        _ name: String, scheme: String, summary: String, suffix: String,
        makeConfiguration: @escaping @Sendable (String, FileMode, PictureFilters) -> any FrameSinkConfiguration
    ) -> SinkPlugin {
        let info = PluginInfo(
            name: name, schemes: [scheme], summary: summary,
            usage: "\(scheme):PATH; the PATH - is standard output",
            options: [NewFile.mode.description] + filters.descriptions,
            examples: ["\(scheme):out.\(suffix)", "\(scheme):-"])
        return SinkPlugin(info) { uri, values in
            guard !uri.rest.isEmpty else {
                throw InletError(.invalidConfiguration, "Add the missing path, such as \(scheme):out.\(suffix).")
            }
            return makeConfiguration(uri.rest, values[NewFile.mode], filters.value(in: values))
        }
    }
}

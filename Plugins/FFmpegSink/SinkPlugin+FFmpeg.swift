public import InletCore
import InletFFmpeg

extension SinkPlugin {
    /// `mp4:`, `mkv:`, `webm:`, `ts:` and `hls:`
    public static let recording = SinkPlugin(
        PluginInfo(
            name: "recording", schemes: ["mp4", "mkv", "webm", "ts", "hls"],
            summary: "Encodes into a file, files of a length, or a folder for HLS.",
            usage: "mp4:PATH, where {n}, {date}, {time} and {utc} in the name tell files apart; hls:FOLDER",
            options: FFmpegSinkOptions.encoding + FFmpegSinkOptions.files,
            examples: [
                "mp4:out.mp4", "mkv:out.mkv?codec=ffv1", "mp4:cam-{n}.mp4?segment=60s&keep-size=10G",
                "hls:/srv/live?bitrate=2M",
            ])
    ) { uri, values in
        guard let container = FFmpegContainer(rawValue: uri.scheme) else {
            throw InletError(.internal, "There is no container '\(uri.scheme)'.")
        }
        var output = FFmpegOutput(container, to: uri.rest)
        output.segment = values[FFmpegSinkOptions.segment]
        output.segmentSize = values[FFmpegSinkOptions.segmentSize]?.value
        output.keptSize = values[FFmpegSinkOptions.keepSize]?.value
        output.keptAge = values[FFmpegSinkOptions.keepAge]
        output.playlistLength = values[FFmpegSinkOptions.playlist]
        return try FFmpegSinkOptions.configuration(values, to: output)
    }

    /// `rtmp://`, `rtsp://`, `srt://` and `udp://`
    public static let streaming = SinkPlugin(
        PluginInfo(
            name: "streaming", schemes: FFmpegSinkOptions.networks.map(\.scheme),
            summary: "Encodes and sends to a server: RTMP, RTSP (publish), SRT, UDP.",
            usage: "rtmp://HOST/APP/KEY; options that are not listed stay in the address",
            options: FFmpegSinkOptions.encoding + FFmpegSinkOptions.connection,
            examples: [
                "rtmp://server/live/key?bitrate=2500k", "rtsp://server:8554/cam", "srt://server:9000?streamid=cam",
                "udp://239.1.1.1:5000",
            ], takesOtherOptions: true)
    ) { uri, values in
        guard let container = FFmpegSinkOptions.networks.first(where: { $0.scheme == uri.scheme })?.container else {
            throw InletError(.internal, "There is no protocol '\(uri.scheme)'.")
        }
        let names = Set((FFmpegSinkOptions.encoding + FFmpegSinkOptions.connection).map(\.name))
        // What is not ours is the server's, as it was written: a password may hold an escape.
        var address = "\(uri.scheme):\(uri.rest)"
        let query = uri.options.filter { !names.contains($0.name) }.map { "\($0.name)=\($0.value)" }
        if !query.isEmpty { address += "?" + query.joined(separator: "&") }
        guard uri.rest.hasPrefix("//"), uri.rest.count > 2 else {
            throw InletError(
                .invalidConfiguration, "\(uri.scheme): needs an address such as \(uri.scheme)://host/path.",
                context: .init(subject: uri.redacted))
        }
        var output = FFmpegOutput(container, to: address)
        output.transport = values[FFmpegSinkOptions.transport]
        output.certificateAuthorities = values[CertificateCheck.authorities]
        output.verifiesCertificate = values[CertificateCheck.verify]
        output.connectTimeout = values[FFmpegSinkOptions.connectTimeout]
        output.writeTimeout = values[FFmpegSinkOptions.writeTimeout]
        return try FFmpegSinkOptions.configuration(values, to: output)
    }
}

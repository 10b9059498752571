public import InletCore
import InletFFmpeg
import InletNetwork
import InletOutput

extension SinkPlugin {
    /// The plug-in for `mp4:`, `mkv:`, `webm:`, `ts:` and `hls:`.
    public static let recording = SinkPlugin(
        PluginInfo(
            name: "recording", schemes: ["mp4", "mkv", "webm", "ts", "hls"],
            summary: "Records to a file, to files of limited length, or to a folder for HLS.",
            usage: "mp4:PATH, with {n}, {date}, {time} or {utc} in the names of several files; hls:FOLDER",
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
        output.mode = values[NewFile.mode]
        return try FFmpegSinkOptions.configuration(values, to: output)
    }

    /// The plug-in for `rtmp://`, `rtsp://`, `srt://` and `udp://`.
    public static let streaming = SinkPlugin(
        PluginInfo(
            name: "streaming", schemes: FFmpegSinkOptions.networks.map(\.scheme),
            summary: "Streams to a server: RTMP, RTSP (publish), SRT, UDP.",
            usage: "rtmp://HOST/APP?key=KEY; unlisted options stay in the address",
            options: FFmpegSinkOptions.encoding + FFmpegSinkOptions.connection,
            examples: [
                "rtmp://server/live?key-file=/run/secrets/stream&bitrate=2500k",
                "rtsp://server:8554/cam?user=camera&password-env=PUBLISH", "srt://server:9000?streamid=cam",
                "udp://239.1.1.1:5000",
            ], takesOtherOptions: true)
    ) { uri, values in
        guard let container = FFmpegSinkOptions.networks.first(where: { $0.scheme == uri.scheme })?.container else {
            throw InletError(.internal, "There is no protocol '\(uri.scheme)'.")
        }
        guard uri.rest.hasBytePrefix("//"), uri.rest.utf8.count > 2 else {
            throw InletError(
                .invalidConfiguration, "\(uri.scheme): needs an address such as \(uri.scheme)://host/path.")
        }
        var address = "\(uri.scheme):\(uri.rest)"
        if let key = values[FFmpegSinkOptions.key] { address = try NetworkAddress.append(key: key, to: address) }
        // Options that are not this plug-in's are passed to the server unchanged.
        address = PluginURI.address(address, values.others)
        let (user, password) = (values[FFmpegSinkOptions.user], values[FFmpegSinkOptions.password])
        if user != nil || password != nil { address = try NetworkAddress(address).url(user: user, password: password) }
        var output = FFmpegOutput(container, to: address)
        output.passphrase = values[FFmpegSinkOptions.passphrase]
        output.streamID = values[FFmpegSinkOptions.streamID]
        output.transport = values[FFmpegSinkOptions.transport]
        output.certificateAuthorities = values[CertificateCheck.authorities]
        output.verifiesCertificate = values[CertificateCheck.verify]
        output.connectTimeout = values[FFmpegSinkOptions.connectTimeout]
        output.writeTimeout = values[FFmpegSinkOptions.writeTimeout]
        return try FFmpegSinkOptions.configuration(values, to: output)
    }
}

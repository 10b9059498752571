public import InletCore
import InletDecode
import InletFFmpeg
import InletNetwork

extension SourcePlugin {
    /// The plug-in for `rtsp://`, `http://`, `rtmp://`, `srt://`, `udp://` and others, and for `ffmpeg:URL`.
    public static let network = SourcePlugin(
        PluginInfo(
            name: "network", schemes: FFmpegNetworkConfiguration.schemes + ["ffmpeg"],
            summary: "Network streams that libavformat reads: HTTP, HLS, RTMP, SRT, MPEG-TS over UDP, RTSP.",
            usage: "http://USER:PASSWORD@HOST/PATH?connect-timeout=2s; unlisted options stay in the address",
            options: NetworkOptions.all,
            examples: [
                "http://camera/video.mjpg", "http://camera/video.mjpg?user=viewer&password-file=/run/secrets/camera",
                "udp://239.1.1.1:5000", "ffmpeg:tcp://encoder:5000", "ffmpeg:rtsp://camera/stream",
            ], takesOtherOptions: true)
    ) { uri, values in
        try NetworkOptions.configuration(uri, values)
    }
}

private enum NetworkOptions {
    private typealias Shared = NetworkSourceOptions
    private static let defaults = FFmpegNetworkConfiguration(url: "")
    static let transport = PluginOption(
        "transport", default: defaults.transport, "The transport of the media in RTSP; auto is tcp")
    static let latency = PluginOption(
        "latency", default: defaults.latency, in: .zero ... .seconds(10),
        "How long to wait for late packets")
    static let probe = PluginOption(
        "probe", default: defaults.probe, in: .zero ... .seconds(60),
        "How much of the stream to analyse in advance, to know its size and rate")
    static let passphrase = PluginOption.secret("passphrase", "The SRT passphrase").only(for: "srt", "ffmpeg")
    static let streamID = PluginOption.secret(
        "streamid", "The SRT stream ID, which may contain credentials"
    ).only(for: "srt", "ffmpeg")
    static let key = PluginOption.secret("key", "The stream key, which follows the application in an RTMP address")
        .only(for: "rtmp", "rtmps", "ffmpeg")
    static let every = PluginOption(
        "every", default: defaults.pollInterval, in: .zero ... .seconds(3600),
        "How often a still picture is requested again; 0 reads it once"
    ).only(for: "http", "https", "ffmpeg")
    static let stream = PluginOption<Int?>(
        "stream", default: nil, "The number of the stream, as listed by ffprobe", range: "0 or more"
    ) { ($0 ?? 0) >= 0 }
    static let pace = PluginOption<SourcePacing?>(
        "pace", default: nil,
        "live, realtime or none; by default none for a file over HTTP and realtime for HLS")

    static let all = [
        transport.description, latency.description, probe.description, Shared.user.description,
        Shared.password.description,
        passphrase.description, streamID.description, key.description, CertificateCheck.authorities.description,
        CertificateCheck.verify.description, Shared.privateAddresses.description,
        Shared.connectTimeout.description,
        Shared.firstTimeout.description, Shared.readTimeout.description, every.description, Shared.threads.description,
        stream.description,
        Shared.damage.description, pace.description, Shared.maximumSize.description,
        Shared.maximumFrameRate.description,
        Shared.maximumLag.description, Shared.decoder.description,
    ]

    private static let needPort: Set<String> = ["rist", "rtp", "sctp", "srt", "tcp", "tls", "udp", "udplite"]

    static func configuration(
        _ uri: PluginURI, _ values: PluginOptionValues
    ) throws(InletError) -> FFmpegNetworkConfiguration {
        let address = uri.scheme == "ffmpeg" ? uri.rest : "\(uri.scheme):\(uri.rest)"
        let parsed = try NetworkAddress(address)
        guard FFmpegNetworkConfiguration.protocols[parsed.scheme] != nil else {
            throw InletError(
                .unsupported,
                "The network protocol '\(parsed.scheme)' is not supported. Supported protocols: "
                    + FFmpegNetworkConfiguration.protocols.keys.sorted().joined(separator: ", ") + ".")
        }
        guard FFmpegOptionNames.hasProtocol(parsed.scheme) else {
            throw InletError(
                .unsupported, "The installed libavformat lacks \(parsed.scheme). Try a fuller build of FFmpeg."
            )
        }
        if needPort.contains(parsed.scheme), !parsed.hasPort {
            throw InletError(
                .invalidConfiguration,
                "Add a port to the address, because \(parsed.scheme) has no default port: \(parsed.scheme)://host:5000."
            )
        }
        var configuration = FFmpegNetworkConfiguration(url: try withKey(address, parsed.scheme, values))
        for option in values.others where option.name.hasBytePrefix("ffmpeg.") {
            guard !option.isBare else {
                throw InletError(.invalidConfiguration, "The option '\(option.name)' has no value.")
            }
            let name = String(Substring(option.name.utf8.dropFirst("ffmpeg.".utf8.count)))
            try FFmpegOptionNames.check(name, value: option.value, scheme: parsed.scheme)
            configuration.options[name] = option.value
        }
        let query = values.others.filter { !$0.name.hasBytePrefix("ffmpeg.") }
        try check(query, parsed.scheme)
        configuration.url = PluginURI.address(configuration.url, query)
        configuration.transport = values[transport]
        configuration.latency = values[latency]
        configuration.probe = values[probe]
        configuration.user = values[Shared.user]
        configuration.password = values[Shared.password]
        (configuration.passphrase, configuration.streamID) = (values[passphrase], values[streamID])
        guard parsed.scheme == "srt" || (values[passphrase] ?? values[streamID]) == nil else {
            throw InletError(
                .invalidConfiguration,
                "passphrase and streamid are only for srt. For parameters of the server with these names, write query.passphrase and query.streamid."
            )
        }
        _ = try parsed.url(user: configuration.user, password: configuration.password)
        configuration.certificateAuthorities = values[CertificateCheck.authorities]
        configuration.verifiesCertificate = values[CertificateCheck.verify]
        configuration.privateAddresses = values[Shared.privateAddresses]
        configuration.connectTimeout = values[Shared.connectTimeout]
        configuration.firstTimeout = values[Shared.firstTimeout]
        configuration.readTimeout = values[Shared.readTimeout]
        configuration.pollInterval = values[every]
        configuration.threads = values[Shared.threads]
        configuration.maximumSize = values[Shared.maximumSize]
        configuration.maximumFrameRate = values[Shared.maximumFrameRate]
        configuration.maximumLag = values[Shared.maximumLag]
        configuration.decoder = values[Shared.decoder]
        configuration.stream = values[stream]
        configuration.damage = values[Shared.damage]
        configuration.pace = values[pace]
        if configuration.isHTTP { _ = try HTTPSettings(configuration, environment: [:]) }
        return configuration
    }

    private static func withKey(
        _ address: String, _ scheme: String, _ values: PluginOptionValues
    ) throws(InletError) -> String {
        guard let key = values[key] else { return address }
        guard scheme.hasBytePrefix("rtmp") else {
            throw InletError(
                .invalidConfiguration,
                "key is only for rtmp. For a parameter of the server with this name, write query.key.")
        }
        return try NetworkAddress.append(key: key, to: address)
    }

    /// Rejects options in an address's query that are also rejected elsewhere, if libavformat itself reads the query:
    /// they could name local files.
    private static func check(_ query: [PluginURI.Option], _ scheme: String) throws(InletError) {
        guard needPort.contains(scheme) else { return }
        let refused = FFmpegNetworkConfiguration.refusedOptions.union(["cert", "key"])
        for option in query where refused.contains(option.addressName) {
            throw InletError(
                .invalidConfiguration, "'\(option.addressName)' is not allowed: it could disable a protection.")
        }
    }
}

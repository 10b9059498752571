import FoundationEssentials
public import InletCore
import InletFFmpeg

extension SourcePlugin {
    /// `rtsp://`, `http://`, `rtmp://`, `srt://`, `udp://` and the like, and `ffmpeg:URL`.
    public static let network = SourcePlugin(
        PluginInfo(
            name: "network", schemes: FFmpegNetworkConfiguration.schemes + ["ffmpeg"],
            summary: "Network streams that libavformat reads: RTSP, HTTP, HLS, RTMP, SRT, MPEG-TS over UDP.",
            usage: "rtsp://USER:PASSWORD@HOST/PATH?transport=tcp; options that are not listed stay in the address",
            options: NetworkOptions.all,
            examples: [
                "rtsp://camera/stream", "rtsp://camera/stream?user=viewer&password-file=/run/secrets/camera",
                "http://camera/video.mjpg", "udp://239.1.1.1:5000", "ffmpeg:tcp://encoder:5000",
            ], takesOtherOptions: true)
    ) { uri, values in
        try NetworkOptions.configuration(uri, values)
    }
}

private enum NetworkOptions {
    static let transport = PluginOption(
        "transport", default: FFmpegNetworkConfiguration.Transport.auto, "How RTSP carries the media; auto is tcp")
    static let latency = PluginOption(
        "latency", default: Duration.milliseconds(100), in: .zero ... .seconds(10),
        "How long late packets are waited for")
    static let probe = PluginOption(
        "probe", default: Duration.zero, in: .zero ... .seconds(60),
        "How much is looked at before the start, to tell size and rate beforehand")
    static let user = PluginOption<String?>("user", default: nil, "The user, instead of the address's")
    static let passwordFile = PluginOption<String?>(
        "password-file", default: nil, "A file whose first line is the password")
    static let passwordVariable = PluginOption<String?>(
        "password-env", default: nil, "The environment variable that holds the password")
    static let connectTimeout = PluginOption(
        "connect-timeout", default: Duration.seconds(5), in: .milliseconds(10) ... .seconds(3600),
        "How long connecting may take")
    static let firstTimeout = PluginOption(
        "first-timeout", default: Duration.seconds(5), in: .milliseconds(10) ... .seconds(3600),
        "How long the first packet may take")
    static let readTimeout = PluginOption(
        "read-timeout", default: Duration.seconds(5), in: .milliseconds(10) ... .seconds(3600),
        "How long any later packet may take")
    static let threads = PluginOption<Int?>(
        "threads", default: nil, "Threads that decode, 0 for one a core; 1 for live streams where it is not given",
        range: "0...64"
    ) { (0...64).contains($0 ?? 0) }
    static let largestSize = PluginOption(
        "max-size", default: ImageSize(width: 8192, height: 8192),
        in: ImageSize(width: 16, height: 16)...ImageSize(width: 32_768, height: 32_768), "Larger pictures are refused")
    static let highestRate = PluginOption(
        "max-fps", default: Rational(240), in: Rational(1)...Rational(100_000),
        "A live stream with more frames a second is refused")
    static let stream = PluginOption<Int?>(
        "stream", default: nil, "The number of the stream, as ffprobe counts", range: "0 or more"
    ) { ($0 ?? 0) >= 0 }
    static let damaged = PluginOption("damaged", default: DamagePolicy.drop, "What becomes of damaged pictures")
    static let pace = PluginOption<SourcePacing?>(
        "pace", default: nil,
        "live, realtime or none; none for a file over HTTP and realtime for HLS where it is not given")

    static let all = [
        transport.description, latency.description, probe.description, user.description, passwordFile.description,
        passwordVariable.description, CertificateCheck.authorities.description, CertificateCheck.verify.description,
        connectTimeout.description,
        firstTimeout.description, readTimeout.description, threads.description, stream.description,
        damaged.description, pace.description, largestSize.description, highestRate.description,
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
                "'\(parsed.scheme)' is no network protocol that is let in. It takes "
                    + FFmpegNetworkConfiguration.protocols.keys.sorted().joined(separator: ", ") + ".")
        }
        guard FFmpegOptionNames.hasProtocol(parsed.scheme) else {
            throw InletError(
                .unsupported, "The installed libavformat does not speak \(parsed.scheme). Try a fuller build of FFmpeg."
            )
        }
        if needPort.contains(parsed.scheme), !parsed.hasPort {
            throw InletError(
                .invalidConfiguration,
                "The address needs a port, as \(parsed.scheme) has none of its own: \(parsed.scheme)://host:5000.")
        }
        let names = Set(all.map(\.name))
        var configuration = FFmpegNetworkConfiguration(url: address)
        var query: [String] = []
        for option in uri.options where !names.contains(option.name) {
            guard option.name.hasPrefix("ffmpeg.") else {
                let text = option.text.hasPrefix("query.") ? option.text.dropFirst("query.".count) : option.text[...]
                query.append(printable(text))
                continue
            }
            guard !option.isBare else {
                throw InletError(.invalidConfiguration, "The option '\(option.name)' has no value.")
            }
            let name = String(option.name.dropFirst("ffmpeg.".count))
            try FFmpegOptionNames.check(name, value: option.value, scheme: parsed.scheme)
            configuration.options[name] = option.value
        }
        if !query.isEmpty { configuration.url += "?" + query.joined(separator: "&") }
        configuration.transport = values[transport]
        configuration.latency = values[latency]
        configuration.probe = values[probe]
        configuration.user = values[user]
        configuration.password = try password(file: values[passwordFile], variable: values[passwordVariable])
        configuration.certificateAuthorities = values[CertificateCheck.authorities]
        configuration.verifiesCertificate = values[CertificateCheck.verify]
        configuration.connectTimeout = values[connectTimeout]
        configuration.firstTimeout = values[firstTimeout]
        configuration.readTimeout = values[readTimeout]
        configuration.threads = values[threads]
        configuration.maximumSize = values[largestSize]
        configuration.maximumFrameRate = values[highestRate]
        configuration.stream = values[stream]
        configuration.damage = values[damaged]
        configuration.pace = values[pace]
        return configuration
    }

    private static func password(file: String?, variable: String?) throws(InletError) -> String? {
        if let file {
            guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
                throw InletError(.notFound, "The password file \(file) cannot be read. Check its path and permissions.")
            }
            return text.split(separator: "\n", omittingEmptySubsequences: false).first.map { String($0) }
        }
        guard let variable else { return nil }
        guard let value = ProcessInfo.processInfo.environment[variable] else {
            throw InletError(
                .invalidConfiguration, "The environment variable \(variable), for the password, is not set.")
        }
        return value
    }

    /// A query's item as it is written, with what cannot stand in a request escaped.
    private static func printable(_ text: Substring) -> String {
        text.utf8.reduce(into: "") { result, byte in
            let isPrintable = byte > 0x20 && byte < 0x7f && byte != UInt8(ascii: "#")
            result += isPrintable ? String(Character(Unicode.Scalar(byte))) : NetworkAddress.encoded(byte)
        }
    }
}

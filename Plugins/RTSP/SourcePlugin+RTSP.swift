public import InletCore
import InletDecode
import InletFFmpeg
import InletNetwork
import InletRTSP

extension SourcePlugin {
    /// The plug-in for `rtsp://` and `rtsps://`: network cameras and servers.
    public static let rtsp = SourcePlugin(
        PluginInfo(
            name: "rtsp", schemes: ["rtsp", "rtsps"], summary: "Network cameras and servers that use RTSP.",
            usage: "rtsp://USER:PASSWORD@HOST/PATH?transport=tcp; unlisted options stay in the address",
            options: RTSPOptions.all,
            examples: [
                "rtsp://camera/stream", "rtsp://camera/stream?user=viewer&password-file=/run/secrets/camera",
                "rtsps://camera/stream?tls-ca=/etc/ssl/camera.pem", "rtsp://camera/stream?transport=udp",
            ], takesOtherOptions: true)
    ) { uri, values in
        try RTSPOptions.configuration(uri, values)
    }
}

enum RTSPOptions {
    private typealias Shared = NetworkSourceOptions
    private static let defaults = RTSPConfiguration(url: "")

    static let transport = PluginOption(
        "transport", default: defaults.transport,
        "The transport of the pictures: auto is tcp; multicast falls back to udp, and udp to tcp, also if lost "
            + "packets cost too many pictures; udp-only stays with udp; http and websocket are tunnels"
    )
    static let tunnelPath = PluginOption<String?>(
        "tunnel-path", default: nil,
        "The path and query of the tunnel for transport=http and websocket; by default those of the address",
        range: "/PATH"
    ) { $0.map { $0.hasBytePrefix("/") } ?? true }
    static let latency = PluginOption(
        "latency", default: defaults.latency, in: .zero ... .seconds(10),
        "How long to wait for a missing packet over UDP")
    static let basicAuthentication = PluginOption(
        "basic-auth", default: defaults.basicAuthentication,
        "When the password may be sent in plain text (Basic authentication): always, only to rtsps addresses, or never")
    static let pin = PluginOption<String?>(
        "tls-pin", default: nil, "The SHA-256 of the only certificate to accept, in hexadecimal digits",
        range: "64 digits"
    ) { $0.map { RTSPConfiguration.fingerprint($0) != nil } ?? true }
    static let keyFrameRequests = PluginOption(
        "key-frames", default: defaults.keyFrameRequests,
        "When key frames are requested by RTCP: if the server offers it, always, or never (not by ONVIF either)")
    static let onvif = PluginOption<String?>(
        "onvif", default: nil,
        "The address of the camera's ONVIF device service, from which key frames are requested as well",
        range: "http://HOST[:PORT]/onvif/device_service"
    ) { $0.map { (try? RTSPURL(service: Array($0.utf8))) != nil } ?? true }
    static let onvifProfile = PluginOption<String?>(
        "onvif-profile", default: nil,
        "The token of the stream's ONVIF media profile; by default found by the stream's address; needs onvif",
        range: "TOKEN"
    ) { $0.map { !$0.isEmpty } ?? true }
    static let events = PluginOption(
        "events", default: defaults.events,
        "Whether motion and tampering detected by the ONVIF device become events; needs the device")
    static let sharesCredentials = PluginOption(
        "share-credentials", default: defaults.sharesCredentials,
        "Whether user and password are also sent to a server to which another one redirects")
    static let stream = PluginOption<Int?>(
        "stream", default: nil, "The number of the video stream, from 0; by default the first that can be decoded",
        range: "0 or more"
    ) { ($0 ?? 0) >= 0 }

    static let all = shared + [onvif.description, onvifProfile.description]

    /// The options of a stream that also apply when an ONVIF device states its address.
    static let shared = [
        transport.description, tunnelPath.description, latency.description, Shared.user.description,
        Shared.password.description, basicAuthentication.description,
        CertificateCheck.authorities.description, CertificateCheck.verify.description, pin.description,
        keyFrameRequests.description, events.description, Shared.privateAddresses.description,
        sharesCredentials.description,
        Shared.connectTimeout.description, Shared.firstTimeout.description, Shared.readTimeout.description,
        stream.description, Shared.damage.description, Shared.maximumSize.description,
        Shared.maximumFrameRate.description, Shared.maximumLag.description, Shared.threads.description,
        Shared.decoder.description,
    ]

    static func configuration(
        _ uri: PluginURI, _ values: PluginOptionValues
    ) throws(InletError) -> RTSPConfiguration {
        for option in values.others where option.name.hasBytePrefix("ffmpeg.") {
            throw InletError(
                .invalidConfiguration,
                "'\(option.name)' is an option of libavformat. Put ffmpeg: before the address to read the stream with it."
            )
        }
        let address = PluginURI.address("\(uri.scheme):\(uri.rest)", values.others)
        let parsed = try NetworkAddress(address)
        guard parsed.origin != nil else {
            throw InletError(.invalidConfiguration, "The host or the port of the address is invalid. Check both.")
        }
        var configuration = RTSPConfiguration(url: address)
        apply(values, to: &configuration)
        _ = try parsed.url(user: configuration.user, password: configuration.password)
        configuration.onvif = values[onvif]
        configuration.onvifProfile = values[onvifProfile]
        // Validates the combinations of options.
        _ = try configuration.sessionConfiguration(KeepAliveMemory())
        _ = try configuration.onvifSettings()
        return configuration
    }

    /// Applies the ``shared`` options.
    static func apply(_ values: PluginOptionValues, to configuration: inout RTSPConfiguration) {
        configuration.transport = values[transport]
        configuration.tunnelPath = values[tunnelPath]
        configuration.latency = values[latency]
        configuration.user = values[Shared.user]
        configuration.password = values[Shared.password]
        configuration.basicAuthentication = values[basicAuthentication]
        configuration.certificateAuthorities = values[CertificateCheck.authorities]
        configuration.verifiesCertificate = values[CertificateCheck.verify]
        configuration.certificatePin = values[pin]
        configuration.keyFrameRequests = values[keyFrameRequests]
        configuration.events = values[events]
        configuration.privateAddresses = values[Shared.privateAddresses]
        configuration.sharesCredentials = values[sharesCredentials]
        configuration.connectTimeout = values[Shared.connectTimeout]
        configuration.firstTimeout = values[Shared.firstTimeout]
        configuration.readTimeout = values[Shared.readTimeout]
        configuration.stream = values[stream]
        configuration.damage = values[Shared.damage]
        configuration.maximumSize = values[Shared.maximumSize]
        configuration.maximumFrameRate = values[Shared.maximumFrameRate]
        configuration.maximumLag = values[Shared.maximumLag]
        configuration.threads = values[Shared.threads]
        configuration.decoder = values[Shared.decoder]
    }
}

extension RTSPConfiguration {
    /// Returns the 32 bytes of a fingerprint given in hexadecimal digits, with or without colons; nil for any other
    /// text.
    static func fingerprint(_ text: String) -> [UInt8]? {
        let digits = text.utf8.filter { $0 != UInt8(ascii: ":") }.map(\.hexadecimalValue)
        guard digits.count == 64 else { return nil }
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[place], let low = digits[place + 1] else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}

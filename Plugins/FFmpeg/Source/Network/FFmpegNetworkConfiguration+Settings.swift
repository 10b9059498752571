import InletCore
import InletFFmpeg
import InletNetwork

extension FFmpegNetworkConfiguration {
    /// The schemes that need no prefix. Other schemes in ``protocols`` need the prefix `ffmpeg:`.
    static let schemes = ["http", "https", "rtmp", "rtmps", "srt", "udp"]

    /// For each protocol, libavformat's name and all protocols to which the stream may refer: never a file, and never
    /// from TLS to plain text.
    static let protocols: [String: String] = [
        "rtsp": "rtsp,rtp,udp,tcp,http", "rtsps": "rtsp,rtsps,tls,tcp,rtp,udp,srtp",
        // Connections are made by this package: libavformat itself must not open any.
        "http": "http,https,crypto", "https": "https,crypto", "rtmp": "rtmp,tcp", "rtmps": "rtmps,rtmp,tls,tcp",
        "srt": "srt,udp",
        "udp": "udp",
        "ftp": "ftp,tcp", "mmsh": "mmsh,http,tcp", "mmst": "mmst,tcp", "rist": "rist,udp",
        "rtmpt": "rtmpt,ffrtmphttp,http,tcp", "rtp": "rtp,udp",
        "sctp": "sctp", "tcp": "tcp", "tls": "tls,tcp", "udplite": "udplite,udp",
    ]

    /// The rejected options: they would lift the limits on a hostile server, or reveal secrets.
    static let refusedOptions: Set<String> = [
        "protocol_whitelist", "protocol_blacklist", "format_whitelist", "codec_whitelist", "dump_separator",
        "allowed_extensions", "cookies", "headers", "key_file", "keyfile", "cert_file", "cafile", "ca_file", "verify",
        "tls_verify",
        "seg_format_options", "http_proxy", "listen", "interrupt_callback", "max_streams", "max_pixels", "auth_type",
    ]

    /// Returns all settings for libavformat, with the user's settings last.
    func settings(scheme: String) -> [(name: String, value: String)] {
        var settings: [(String, String)] = [
            ("protocol_whitelist", (Self.protocols[scheme] ?? "") + (opensByItself ? ",tcp" : "")),
            ("max_streams", "64"),
            // The rate comes from the timestamps.
            ("fpsprobesize", "0"),
            // 0 is libavformat's own default.
            ("analyzeduration", "\(probe.wholeNanoseconds / 1000)"),
        ]
        switch scheme {
        case "rtsp", "rtsps":
            settings.append(("allowed_media_types", "video"))
            settings.append(("max_delay", "\(latency.wholeNanoseconds / 1000)"))
            // With fewer than two, libavformat ignores sequence numbers, and a server may leave out packets even over
            // TCP.
            settings.append(("reorder_queue_size", transportName.hasBytePrefix("udp") ? "500" : "2"))
            settings.append(("rtsp_transport", transportName))
        // ``HTTPSession`` keeps the connections. Requests over libavformat's own connections would bypass
        // ``NestedInputs``.
        case "http", "https": settings += [("http_persistent", "0"), ("http_multiple", "0")]
        case "udp": settings += [("fifo_size", "16384"), ("overrun_nonfatal", "1")]
        case "srt":
            settings.append(("latency", "\(latency.wholeNanoseconds / 1000)"))
            // Not in the address, where libavformat reads + as a space and does not decode escapes.
            settings += [("passphrase", passphrase), ("streamid", streamID)].compactMap { name, value in
                value.map { (name, $0) }
            }
        default: break
        }
        if ["rtsps", "rtmps", "tls"].contains(scheme) { settings += certificateCheck.settings }
        let others = isHTTP ? options.filter { !HTTPSettings.options.contains($0.key) } : options
        return settings + others.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    var certificateCheck: CertificateCheck {
        CertificateCheck(authorities: certificateAuthorities, isOn: verifiesCertificate)
    }

    /// The addresses to which the stream may refer.
    var addressPolicy: AddressPolicy {
        switch privateAddresses {
        case .follow: .follow
        case .deny: .deny
        case .allow: .allow
        }
    }

    /// The protocols to which the stream may refer.
    var allowedProtocols: Set<String> {
        Set((Self.protocols[scheme] ?? "").split(atByte: ",").map(String.init))
    }

    /// The protocol, in lower case.
    var scheme: String { url.prefix(upToByte: ":").lowercasedASCII }

    /// Whether libavformat may open connections itself, without TLS because it would not check certificates. Its DASH
    /// demuxer does so.
    private var opensByItself: Bool { scheme == "http" && privateAddresses == .allow }

    /// Whether the stream is read over HTTP, by libcurl.
    var isHTTP: Bool { ["http", "https"].contains(scheme) }

    private var transportName: String {
        switch transport {
        case .auto, .tcp: "tcp"
        case .udp: "udp"
        case .http: "http"
        case .multicast: "udp_multicast"
        }
    }
}

import InletCore
import InletFFmpeg

extension FFmpegOutput {
    /// The address's scheme, such as `rtmps`.
    var scheme: String { destination.prefix(upToByte: ":").lowercasedASCII }

    var certificateCheck: CertificateCheck {
        CertificateCheck(authorities: certificateAuthorities, isOn: verifiesCertificate)
    }

    /// The longest fragment of MP4, in microseconds.
    static let fragmentDuration = "250000"

    /// The options for libavformat's muxer and protocol.
    func muxerOptions(for codec: VideoCodec) -> [(String, String)] {
        switch container {
        case .mp4:
            // Quarter-second fragments: together with the pictures that an encoder holds back, less than a second is
            // lost if the process is killed.
            [
                ("movflags", "+delay_moov+default_base_moof"), ("frag_duration", Self.fragmentDuration),
                // Display starts at zero although decoding starts earlier: an edit list states that.
                ("avoid_negative_ts", "disabled"),
                ("strict", "experimental"),
            ]
        case .mkv, .webm: [("cluster_time_limit", "250")]
        case .ts: []
        // Segments of MPEG-TS have none.
        case .hls where codec == .hevc:
            [
                ("movflags", "+frag_keyframe+empty_moov+default_base_moof+skip_trailer+frag_discont"),
                // The first fragment begins at its own time, and not at zero.
                ("use_editlist", "0"), ("avoid_negative_ts", "disabled"), ("frag_duration", "250000"),
            ]
        case .hls: []
        case .rtmp: [("flvflags", "no_duration_filesize")] + tlsOptions
        // libavformat considers VP9 over RTP experimental, since its RFC (9628) is more recent.
        case .rtsp: [("rtsp_transport", transport.rawValue), ("strict", "experimental")] + tlsOptions
        // libavformat does not make the connection.
        case .srt: []
        case .udp: [("pkt_size", "1316")]
        }
    }

    private var tlsOptions: [(String, String)] {
        ["rtmps", "rtsps"].contains(scheme) ? certificateCheck.settings.map { ($0.name, $0.value) } : []
    }
}

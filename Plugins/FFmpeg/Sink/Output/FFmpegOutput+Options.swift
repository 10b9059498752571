import InletCore
import InletFFmpeg

extension FFmpegOutput {
    /// The address's scheme, such as `rtmps`.
    var scheme: String { destination.prefix(upToByte: ":").lowercasedASCII }

    var certificateCheck: CertificateCheck {
        CertificateCheck(authorities: certificateAuthorities, isOn: verifiesCertificate)
    }

    /// The longest fragment of an MP4 file, in microseconds.
    static let fragmentDuration = "250000"

    /// The options for libavformat's muxer and protocol.
    func muxerOptions(for codec: VideoCodec) -> [(String, String)] {
        switch container {
        case .mp4:
            // Quarter-second fragments: including the pictures that an encoder holds back, less than a second is lost
            // if the process is killed.
            [
                ("movflags", "+delay_moov+default_base_moof"), ("frag_duration", Self.fragmentDuration),
                // The first picture is shown at zero although decoding starts earlier; an edit list states that.
                ("avoid_negative_ts", "disabled"),
                ("strict", "experimental"),
            ]
        case .mkv, .webm: [("cluster_time_limit", "250")]
        case .ts: []
        // Segments of MPEG-TS need no options.
        case .hls where codec == .hevc:
            [
                ("movflags", "+frag_keyframe+empty_moov+default_base_moof+skip_trailer+frag_discont"),
                // The first fragment starts at its own time instead of zero.
                ("use_editlist", "0"), ("avoid_negative_ts", "disabled"), ("frag_duration", "250000"),
            ]
        case .hls: []
        case .rtmp: [("flvflags", "no_duration_filesize")] + tlsOptions
        // libavformat considers VP9 over RTP experimental, because its RFC (9628) is newer.
        case .rtsp: [("rtsp_transport", transport.rawValue), ("strict", "experimental")] + tlsOptions
        // The connection is not made by libavformat.
        case .srt: []
        case .udp: [("pkt_size", "1316")]
        }
    }

    private var tlsOptions: [(String, String)] {
        ["rtmps", "rtsps"].contains(scheme) ? certificateCheck.settings.map { ($0.name, $0.value) } : []
    }
}

import InletCore
import InletFFmpeg

extension FFmpegOutput {
    /// The path of an HLS playlist, without a protocol: the muxer deletes files by the path as it stands here. A colon
    /// would make one.
    var playlistPath: String { (destination.hasBytePrefix("/") ? destination : "./\(destination)") + "/index.m3u8" }

    /// The address's scheme, such as `rtmps`.
    var scheme: String { destination.prefix(upToByte: ":").lowercasedASCII }

    var certificateCheck: CertificateCheck {
        CertificateCheck(authorities: certificateAuthorities, isOn: verifiesCertificate)
    }

    /// libavformat's options, of the muxer and the protocol.
    var muxerOptions: [(String, String)] {
        switch container {
        case .mp4:
            // Fragments a quarter of a second long: with what an encoder holds back, less than a second is lost when
            // the process is killed.
            [
                ("movflags", "+delay_moov+default_base_moof"), ("frag_duration", "250000"),
                // Pictures begin at zero though decoding begins before: an edit list says so.
                ("avoid_negative_ts", "disabled"),
                ("strict", "experimental"),
            ]
        case .mkv, .webm: [("cluster_time_limit", "250")]
        case .ts: []
        case .hls:
            [
                ("hls_time", "\(Double((segment ?? .seconds(2)).wholeNanoseconds) / 1e9)"),
                ("hls_list_size", "\(playlistLength)"),
                // Players that are late still ask for those that have left the playlist (RFC 8216, 6.2.2).
                ("hls_delete_threshold", "\(playlistLength + 1)"),
                ("hls_flags", (playlistLength > 0 ? "delete_segments+" : "") + "temp_file+independent_segments"),
                // Numbers that no earlier run has used.
                ("hls_start_number_source", "epoch"),
            ]
        case .rtmp: [("flvflags", "no_duration_filesize")] + tlsOptions
        // VP9 in RTP is an experiment by libavformat's reckoning, whose RFC (9628) came after it.
        case .rtsp: [("rtsp_transport", transport.rawValue), ("strict", "experimental")] + tlsOptions
        // The connection is not libavformat's.
        case .srt: []
        case .udp: [("pkt_size", "1316")]
        }
    }

    private var tlsOptions: [(String, String)] {
        ["rtmps", "rtsps"].contains(scheme) ? certificateCheck.settings.map { ($0.name, $0.value) } : []
    }
}

import InletCore
import InletFFmpeg

extension FFmpegOutput {
    /// The path of an HLS playlist, without a protocol: the muxer deletes files by this literal path. A colon would
    /// start a protocol.
    var playlistPath: String { (destination.hasBytePrefix("/") ? destination : "./\(destination)") + "/index.m3u8" }

    /// The address's scheme, such as `rtmps`.
    var scheme: String { destination.prefix(upToByte: ":").lowercasedASCII }

    var certificateCheck: CertificateCheck {
        CertificateCheck(authorities: certificateAuthorities, isOn: verifiesCertificate)
    }

    /// The longest fragment of MP4, in microseconds.
    static let fragmentDuration = "250000"

    /// The options for libavformat's muxer and protocol.
    var muxerOptions: [(String, String)] {
        switch container {
        case .mp4:
            // Quarter-second fragments: with what an encoder holds back, less than a second is lost if the process is
            // killed.
            [
                ("movflags", "+delay_moov+default_base_moof"), ("frag_duration", Self.fragmentDuration),
                // Display starts at zero although decoding starts earlier: an edit list says so.
                ("avoid_negative_ts", "disabled"),
                ("strict", "experimental"),
            ]
        case .mkv, .webm: [("cluster_time_limit", "250")]
        case .ts: []
        case .hls:
            [
                ("hls_time", "\(Double((segment ?? .seconds(2)).wholeNanoseconds) / 1e9)"),
                ("hls_list_size", "\(playlistLength)"),
                // Late players still request segments that have left the playlist (RFC 8216, 6.2.2).
                ("hls_delete_threshold", "\(playlistLength + 1)"),
                ("hls_flags", (playlistLength > 0 ? "delete_segments+" : "") + "temp_file+independent_segments"),
                // Numbers that no earlier run has used.
                ("hls_start_number_source", "epoch"),
            ]
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

public import InletCore

/// The format that packets are written in, and how they are transported.
public enum FFmpegContainer: String, Sendable, Hashable, CaseIterable {
    /// Fragmented MP4, which can be played without its end.
    case mp4
    /// Matroska.
    case mkv
    /// WebM.
    case webm
    /// An MPEG transport stream in a file.
    case ts
    /// A playlist and its segments in a folder: HTTP Live Streaming, RFC 8216.
    case hls
    /// FLV, sent to a server by RTMP.
    case rtmp
    /// RTP, sent to a server by RTSP's ANNOUNCE and RECORD: RFC 2326, 10.3 and 10.11.
    case rtsp
    /// An MPEG transport stream by SRT.
    case srt
    /// An MPEG transport stream in UDP packets.
    case udp

    /// The codecs that the container supports, the default first.
    public var codecs: [VideoCodec] {
        switch self {
        case .mp4: [.h264, .hevc, .av1, .vp9, .mjpeg]
        case .mkv: [.h264, .hevc, .av1, .vp9, .vp8, .mjpeg, .ffv1]
        case .webm: [.vp9, .vp8, .av1]
        case .ts, .srt, .udp: [.h264, .hevc]
        case .hls: [.h264, .hevc]
        case .rtmp: [.h264]
        case .rtsp: [.h264, .hevc, .vp8, .vp9, .mjpeg]
        }
    }

    /// Whether the destination is a server or peer rather than a file or folder.
    public var isNetwork: Bool { [.rtmp, .rtsp, .srt, .udp].contains(self) }

    /// Whether it can be split into files of a length or size.
    public var hasSegments: Bool { [.mp4, .mkv, .webm, .ts].contains(self) }

    /// Whether pictures are encoded as stored, with their rotation as metadata. Packets that are copied keep theirs in
    /// Matroska, too.
    var carriesRotation: Bool { self == .mp4 }

    /// Whether parameter sets precede each key frame, so that a viewer can join there.
    func repeatsParameterSets(of codec: VideoCodec) -> Bool {
        [.ts, .srt, .udp].contains(self) || self == .hls && codec != .hevc
    }

    /// Whether it is Matroska or its subset WebM.
    var isMatroska: Bool { self == .mkv || self == .webm }

    /// libavformat's name for the format of the packets. Apple's players accept HEVC only in fragmented MP4.
    func muxer(for codec: VideoCodec) -> String {
        switch self {
        case .mp4: "mp4"
        case .mkv: "matroska"
        case .webm: "webm"
        case .ts, .srt, .udp: "mpegts"
        case .hls: codec == .hevc ? "mp4" : "mpegts"
        case .rtmp: "flv"
        case .rtsp: "rtsp"
        }
    }
}

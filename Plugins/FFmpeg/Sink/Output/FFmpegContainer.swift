public import InletCore

/// The format in which packets are written and its transport.
public enum FFmpegContainer: String, Sendable, Hashable, CaseIterable {
    /// Fragmented MP4, which can be played even if its end is missing.
    case mp4
    /// Matroska.
    case mkv
    /// WebM.
    case webm
    /// An MPEG transport stream in a file.
    case ts
    /// A playlist and its segments in a folder: HTTP Live Streaming, RFC 8216.
    case hls
    /// FLV, sent to a server over RTMP.
    case rtmp
    /// RTP, sent to a server by RTSP's ANNOUNCE and RECORD: RFC 2326, 10.3 and 10.11.
    case rtsp
    /// An MPEG transport stream over SRT.
    case srt
    /// An MPEG transport stream in UDP packets.
    case udp

    /// The codecs that the container supports, starting with the default.
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

    /// Whether the output can be split into files of a given duration or size.
    public var hasSegments: Bool { [.mp4, .mkv, .webm, .ts].contains(self) }

    /// Whether pictures are encoded as stored, with their rotation as metadata. Matroska, too, keeps the rotation of
    /// copied packets.
    var carriesRotation: Bool { self == .mp4 }

    /// Whether parameter sets precede each key frame, so that a viewer can join there.
    func repeatsParameterSets(of codec: VideoCodec) -> Bool {
        [.ts, .srt, .udp].contains(self) || self == .hls && codec != .hevc
    }

    /// Whether the container is Matroska or its subset WebM.
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

import CFFmpeg
import InletCore

// Unsafe: reads the fields of a libavformat input.
/// The properties that an opened input reports about itself.
extension AVFormatContext {
    /// The demuxer's name. A demuxer for several containers has several names, separated by commas.
    var demuxerName: String? { unsafe iformat?.pointee.name.map { unsafe String(cString: $0) } }

    /// Whether the demuxer only counts pictures, as the one for MJPEG over HTTP does, so that its times are unrelated
    /// to the camera's.
    var makesTimesUp: Bool {
        unsafe ["mpjpeg", "mjpeg", "jpeg_pipe", "image2pipe"].contains(demuxerName)
    }

    /// Whether a stream is known to be video.
    var hasVideo: Bool {
        (0..<Int(unsafe nb_streams)).contains { index in
            guard let parameters = unsafe streams[index]?.pointee.codecpar else { return false }
            return unsafe parameters.pointee.codec_type == AVMEDIA_TYPE_VIDEO
                && parameters.pointee.codec_id != AV_CODEC_ID_NONE
        }
    }

    /// Returns whether a stream is video in a codec that libavformat does not know. This is certain only once a packet
    /// of the stream has been read.
    func holdsUnknownVideo(in index: Int) -> Bool {
        guard index >= 0, index < Int(unsafe nb_streams), let parameters = unsafe streams[index]?.pointee.codecpar
        else { return false }
        return unsafe parameters.pointee.codec_type == AVMEDIA_TYPE_VIDEO
            && parameters.pointee.codec_id == AV_CODEC_ID_NONE
    }

    /// The error for such a stream.
    var unknownVideo: InletError {
        let remedy =
            unsafe demuxerName == "flv"
            ? "In FLV that is usually H.265. Have the server send H.264, or the same video by RTSP, MPEG-TS or HLS."
            : "Have the source send H.264 or H.265, or try a newer FFmpeg."
        return InletError(
            .unsupported, "The video's codec is unknown to the installed libavformat. \(remedy)",
            context: .init(operation: "av_read_frame"))
    }

    /// Whether the input has a known length, because it is a recording and not a broadcast.
    var hasLength: Bool {
        if unsafe duration > 0 { return true }
        guard let io = unsafe pb else { return false }
        return unsafe io.pointee.seekable & AVIO_SEEKABLE_NORMAL != 0 && avio_size(io) > 0
    }
}

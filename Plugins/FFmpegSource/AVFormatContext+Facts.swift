import CFFmpeg

/// What an opened input says of itself.
extension AVFormatContext {
    /// The demuxer's name, or its names for several containers, with commas between them.
    var demuxerName: String? { unsafe iformat?.pointee.name.map { unsafe String(cString: $0) } }

    /// Whether the demuxer only counts the pictures, as that of MJPEG over HTTP does: its times would have nothing to
    /// do with the camera's.
    var makesTimesUp: Bool {
        unsafe ["mpjpeg", "mjpeg", "jpeg_pipe", "image2pipe"].contains(demuxerName)
    }

    /// Whether a stream has shown itself to be video.
    var hasVideo: Bool {
        (0..<Int(unsafe nb_streams)).contains { index in
            guard let parameters = unsafe streams[index]?.pointee.codecpar else { return false }
            return unsafe parameters.pointee.codec_type == AVMEDIA_TYPE_VIDEO
                && parameters.pointee.codec_id != AV_CODEC_ID_NONE
        }
    }

    /// Whether it has a length: a recording, and no broadcast.
    var hasLength: Bool {
        if unsafe duration > 0 { return true }
        guard let io = unsafe pb else { return false }
        return unsafe io.pointee.seekable & AVIO_SEEKABLE_NORMAL != 0 && avio_size(io) > 0
    }
}

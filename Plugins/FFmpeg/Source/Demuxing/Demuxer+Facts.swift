import CFFmpeg
import InletCore
import InletFFmpeg

// Unsafe: reads the fields of the demuxer's libavformat input.
/// The container's information about the stream, except its packets.
extension Demuxer {
    /// The distances between the first key frames, in ticks, as far as the container's index states them without
    /// further reads.
    var keyFrameDistances: [Int64] {
        guard let found = unsafe formatContext?.pointee.streams[stream.index] else { return [] }
        var keys: [Int64] = []
        for index in 0..<min(unsafe avformat_index_get_entries_count(found), 512) {
            guard let entry = unsafe avformat_index_get_entry(found, index)?.pointee else { break }
            if entry.flags & Int32(AVINDEX_KEYFRAME) != 0 { keys.append(entry.timestamp) }
        }
        return zip(keys, keys.dropFirst()).map { $1 &- $0 }
    }

    /// The parameters of the stream's packets.
    var codecParameters: CodecParameters? {
        guard let codec = unsafe formatContext?.pointee.streams[stream.index]?.pointee.codecpar.pointee else {
            return nil
        }
        let format = format
        var parameters = CodecParameters(
            codec: VideoCodec(rawValue: format.codec ?? ""), size: format.size, timeBase: stream.timeBase,
            frameRate: stream.frameRate, colorSpace: format.colorSpace, rotation: stream.rotation,
            sampleAspectRatio: stream.sampleAspectRatio, pixelFormat: format.pixelFormat)
        parameters.isMirrored = stream.isMirrored
        parameters.hasContainerAspectRatio = stream.hasContainerAspectRatio
        if let data = unsafe codec.extradata {
            parameters.extraData = unsafe [UInt8](
                UnsafeBufferPointer(start: data, count: max(0, Int(codec.extradata_size))))
        }
        if unsafe codec.profile >= 0 { parameters.profile = unsafe Int(codec.profile) }
        parameters.codecTag = unsafe codec.codec_tag
        parameters.bitsPerCodedSample = unsafe Int(codec.bits_per_coded_sample)
        parameters.reorderDepth = unsafe max(0, Int(codec.video_delay))
        if unsafe codec.level >= 0 { parameters.level = unsafe Int(codec.level) }
        return parameters
    }

    /// The container's information about the stream as a whole. The size is zero if only the first picture reveals it.
    var format: SourceFormat {
        var format = SourceFormat(
            size: ImageSize(width: 0, height: 0), pixelFormat: .yuv420p, frameRate: stream.frameRate,
            timeBase: stream.timeBase,
            rotation: stream.rotation, sampleAspectRatio: stream.sampleAspectRatio, pacing: facts.pacing,
            isBroadcast: facts.isBroadcast)
        guard let formatContext = unsafe formatContext, let found = unsafe formatContext.pointee.streams[stream.index]
        else { return format }
        let parameters = unsafe found.pointee.codecpar.pointee
        let nativeFormat = unsafe AVPixelFormat(parameters.format)
        format.size = unsafe ImageSize(width: Int(parameters.width), height: Int(parameters.height))
        format.pixelFormat = PixelFormat(nativeFormat) ?? PixelFormat("unknown")
        format.colorSpace = unsafe ColorSpace(
            primaries: parameters.color_primaries, transfer: parameters.color_trc, matrix: parameters.color_space,
            range: parameters.color_range, pixelFormat: nativeFormat)
        format.codec = unsafe String(cString: avcodec_get_name(parameters.codec_id))
        let bits = unsafe Int(found.pointee.pts_wrap_bits)
        if facts.timestampsWrap, !facts.makesTimesUp, bits < 64 { format.timestampBits = bits }
        format.container = unsafe formatContext.pointee.demuxerName
        let length = unsafe found.pointee.duration
        if length != inlet_av_nopts_value, length > 0 {
            format.duration = MediaTime(ticks: length, timeBase: stream.timeBase)
        } else if unsafe formatContext.pointee.duration > 0 {
            format.duration = unsafe MediaTime(ticks: formatContext.pointee.duration, timeBase: Rational(1, 1_000_000))
        }
        return format
    }

    /// Returns the flip and rotation that the stream's pictures need; nil if the container does not state them.
    static func orientation(of stream: UnsafeMutablePointer<AVStream>) -> DisplayOrientation? {
        var size = 0
        guard let data = unsafe av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size) else { return nil }
        return unsafe DisplayOrientation(matrix: UnsafeRawBufferPointer(start: data, count: size))
    }
}

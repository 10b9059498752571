import CFFmpeg
import InletCore
import InletFFmpeg

/// Owns a libavformat input: opens it, finds the stream, reads its packets.
///
/// Confined to the capture thread. libavformat asks the interrupt callback whether to give up, so no call outlasts a cancellation by
/// more than one read of a local file.
@safe final class Demuxer {
    private var input: UnsafeMutablePointer<AVFormatContext>?
    private let pipe: PipeInput?
    private let interruption: Interruption
    private let packet: FFmpegPacket
    private(set) var stream: StreamFacts
    /// Frames before this time, in ticks, were only read to decode the one that was asked for.
    private(set) var seekTarget: Int64?

    /// Pictures larger than this are refused before memory is taken for them.
    static let largestSize = ImageSize(width: 8192, height: 8192)

    init(path: String, stream wanted: Int?, context: SourceContext) throws(InletError) {
        pipe = try PipeInput(path: path, context: context)
        interruption = Interruption(context)
        packet = try FFmpegPacket()
        stream = StreamFacts(index: 0, timeBase: Rational(1), rotation: .none)
        FFmpegLogging.install()
        do throws(InletError) {
            try open(path)
            try findStream(wanted)
        } catch {
            // deinit does not run for an object that was never whole.
            unsafe avformat_close_input(&input)
            // libavformat says only that it was interrupted, not by what.
            try context.checkCancellation()
            throw error
        }
    }

    deinit { unsafe avformat_close_input(&input) }

    private func open(_ path: String) throws(InletError) {
        guard let allocated = unsafe avformat_alloc_context() else {
            throw InletError(ffmpeg: -ENOMEM, operation: "avformat_alloc_context")
        }
        unsafe input = allocated
        unsafe allocated.pointee.interrupt_callback.opaque = Unmanaged.passUnretained(interruption).toOpaque()
        unsafe allocated.pointee.interrupt_callback.callback = { opaque in
            guard let opaque = unsafe opaque else { return 0 }
            return unsafe Unmanaged<Interruption>.fromOpaque(opaque).takeUnretainedValue().context.shouldGiveUp ? 1 : 0
        }
        if let pipe { unsafe allocated.pointee.pb = pipe.io }
        // A playlist or a reference inside the file may name other local files, never the network.
        var options: OpaquePointer?
        unsafe av_dict_set(&options, "protocol_whitelist", "file", 0)
        defer { unsafe av_dict_free(&options) }
        try check(
            unsafe avformat_open_input(&input, pipe == nil ? "file:\(path)" : nil, nil, &options), "avformat_open_input"
        )
        try check(unsafe avformat_find_stream_info(input, nil), "avformat_find_stream_info")
    }

    private func findStream(_ wanted: Int?) throws(InletError) {
        guard let input = unsafe input else { return }
        let index = unsafe av_find_best_stream(input, AVMEDIA_TYPE_VIDEO, Int32(clamping: wanted ?? -1), -1, nil, 0)
        guard index >= 0, let found = unsafe input.pointee.streams[Int(index)] else {
            throw InletError(
                .unsupported,
                wanted.map { "Stream \($0) is no video stream. ffprobe lists what the file holds." }
                    ?? "The file holds no video. ffprobe lists what it holds.",
                context: .init(operation: "av_find_best_stream", nativeCode: index))
        }
        for other in 0..<Int(unsafe input.pointee.nb_streams) where other != Int(index) {
            unsafe input.pointee.streams[other]?.pointee.discard = AVDISCARD_ALL
        }
        let parameters = unsafe found.pointee.codecpar.pointee
        let size = unsafe ImageSize(width: Int(parameters.width), height: Int(parameters.height))
        guard size.width <= Self.largestSize.width, size.height <= Self.largestSize.height else {
            throw InletError(.unsupported, "The picture is \(size) pixels; at most \(Self.largestSize) are taken in.")
        }
        stream = unsafe StreamFacts(
            index: Int(index), timeBase: Rational(known: found.pointee.time_base) ?? Rational(1, 1_000_000),
            rotation: Self.rotation(of: found),
            sampleAspectRatio: Rational(known: av_guess_sample_aspect_ratio(input, found, nil)),
            frameRate: Rational(known: av_guess_frame_rate(input, found, nil)))
    }

    private static func rotation(of stream: UnsafeMutablePointer<AVStream>) -> Rotation {
        var size = 0
        guard let data = unsafe av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size) else { return .none }
        return unsafe DisplayOrientation(matrix: UnsafeRawBufferPointer(start: data, count: size))?.rotation ?? .none
    }

    func makeDecoder(_ options: FFmpegDecoder.Options) throws(InletError) -> FFmpegDecoder {
        guard let stream = unsafe input?.pointee.streams[stream.index] else {
            throw InletError(.internal, "The stream went away.")
        }
        return unsafe try FFmpegDecoder(stream.pointee.codecpar, timeBase: stream.pointee.time_base, options: options)
    }

    /// How far apart the first key frames are, in ticks, as far as the container's index tells without reading on.
    var keyFrameDistances: [Int64] {
        guard let found = unsafe input?.pointee.streams[stream.index] else { return [] }
        var keys: [Int64] = []
        for index in 0..<min(unsafe avformat_index_get_entries_count(found), 512) {
            guard let entry = unsafe avformat_index_get_entry(found, index)?.pointee else { break }
            if entry.flags & Int32(AVINDEX_KEYFRAME) != 0 { keys.append(entry.timestamp) }
        }
        return zip(keys, keys.dropFirst()).map { $1 &- $0 }
    }

    /// What the container says of the whole.
    func format(pacing: SourcePacing) -> SourceFormat {
        var format = SourceFormat(
            size: ImageSize(width: 0, height: 0), pixelFormat: .yuv420p, frameRate: stream.frameRate,
            timeBase: stream.timeBase,
            rotation: stream.rotation, sampleAspectRatio: stream.sampleAspectRatio, pacing: pacing)
        guard let input = unsafe input, let found = unsafe input.pointee.streams[stream.index] else { return format }
        let parameters = unsafe found.pointee.codecpar.pointee
        let nativeFormat = unsafe AVPixelFormat(parameters.format)
        format.size = unsafe ImageSize(width: Int(parameters.width), height: Int(parameters.height))
        format.pixelFormat = PixelFormat(nativeFormat) ?? PixelFormat("unknown")
        format.colorSpace = unsafe ColorSpace(
            primaries: parameters.color_primaries, transfer: parameters.color_trc, matrix: parameters.color_space,
            range: parameters.color_range, pixelFormat: nativeFormat)
        format.codec = unsafe String(cString: avcodec_get_name(parameters.codec_id))
        if let name = unsafe input.pointee.iformat?.pointee.name { format.container = unsafe String(cString: name) }
        let length = unsafe found.pointee.duration
        if length != inlet_av_nopts_value, length > 0 {
            format.duration = MediaTime(ticks: length, timeBase: stream.timeBase)
        } else if unsafe input.pointee.duration > 0 {
            format.duration = unsafe MediaTime(ticks: input.pointee.duration, timeBase: Rational(1, 1_000_000))
        }
        return format
    }

    /// The stream's next packet, valid until the next call; nil at the end.
    ///
    /// Damage in the middle of a file makes libavformat fail once and go on, so a few failures in a row are passed over and counted.
    func nextPacket(_ context: SourceContext) throws(InletError) -> FFmpegPacket? {
        var failures = 0
        while true {
            packet.unref()
            let code = unsafe av_read_frame(input, packet.pointer)
            try context.checkCancellation()
            switch code {
            case 0...:
                failures = 0
                if packet.streamIndex == stream.index { return packet }
            case inlet_averror_eof: return nil
            case inlet_averror_eagain: continue
            case -ENOMEM: throw InletError(ffmpeg: code, operation: "av_read_frame")
            default:
                failures += 1
                context.countDrop(.undecodable)
                if failures >= Self.toleratedFailures { return nil }
            }
        }
    }

    /// More failures in a row than this are taken for the end of what can be read.
    private static let toleratedFailures = 32

    /// Goes to the key frame before `time`, counted from the start of the stream.
    func seek(to time: Duration) throws(InletError) {
        guard let input = unsafe input, let found = unsafe input.pointee.streams[stream.index] else { return }
        let start = unsafe found.pointee.start_time
        let origin = start == inlet_av_nopts_value ? 0 : start
        let nanosecond = Rational(1, 1_000_000_000)
        let target =
            origin + MediaTime(ticks: time.wholeNanoseconds, timeBase: nanosecond).rescaled(to: stream.timeBase).ticks
        try check(
            unsafe av_seek_frame(input, Int32(stream.index), target, AVSEEK_FLAG_BACKWARD), "av_seek_frame")
        seekTarget = target
    }

    /// Goes back to the beginning.
    func rewind() throws(InletError) {
        let start = unsafe input?.pointee.start_time ?? 0
        let target = start == inlet_av_nopts_value ? 0 : start
        try check(
            unsafe avformat_seek_file(input, -1, .min, target, target, AVSEEK_FLAG_BACKWARD), "avformat_seek_file")
        seekTarget = nil
    }

    private func check(_ code: Int32, _ operation: String) throws(InletError) {
        if code < 0 { throw InletError(ffmpeg: code, operation: operation) }
    }
}

/// What the interrupt callback looks at. Kept alive by the demuxer for as long as libavformat may call.
private final class Interruption {
    let context: SourceContext
    init(_ context: SourceContext) { self.context = context }
}

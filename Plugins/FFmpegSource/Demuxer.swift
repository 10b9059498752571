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
    private let nested: NestedInputs
    private var packet: FFmpegPacket
    /// libavformat has parsed packets, and goes on so.
    private var isParsed = false
    /// Makes access units of RTP payloads; nil where libavformat does.
    private var assembler: AccessUnitAssembler?
    private(set) var stream: StreamFacts
    /// Frames before this time, in ticks, were only read to decode the one that was asked for.
    private(set) var seekTarget: Int64?

    /// How frames come.
    private(set) var pacing: SourcePacing
    private let pictureLimits: InputLimits
    /// How long the first and later packets may take; nil for files, for which the bridge's limits are enough.
    private var limits: (first: Duration, later: Duration)?
    private var hasRead = false
    /// It has an end, as it has a length.
    private var isFile = false
    /// A packet was read that has not been given out.
    private var isPacketPending = false
    /// The times of the first packet and of the latest, in ticks.
    private var span: (first: Int64, last: Int64)?
    private var losses = 0
    /// The demuxer counts frames instead of telling their times.
    private var makesTimesUp = false

    init(_ source: FFmpegInput, context: SourceContext) throws(InletError) {
        if case .file(let path) = source.kind { pipe = try PipeInput(path: path, context: context) } else { pipe = nil }
        nested = source.nestedInputs
        interruption = Interruption(context, nested: nested)
        packet = try FFmpegPacket()
        stream = StreamFacts(index: 0, timeBase: Rational(1), rotation: .none)
        pacing = source.pace ?? .unpaced
        pictureLimits = source.limits
        FFmpegLogging.install()
        do throws(InletError) {
            switch source.kind {
            case .file(let path): try openFile(path)
            case .network(let network): try open(network, asked: source.pace, context)
            }
            if limits != nil { try awaitVideo(context) }
            try findStream(source.stream)
            if case .network(let network) = source.kind { try assembleUnits(of: network) }
        } catch {
            // deinit does not run for an object that was never whole.
            unsafe avformat_close_input(&input)
            // libavformat says only that it was interrupted, not by what.
            try context.checkCancellation()
            throw error
        }
    }

    deinit {
        interruption.beginClosing()
        unsafe avformat_close_input(&input)
    }

    private func openFile(_ path: String) throws(InletError) {
        let allocated = unsafe try interruption.makeInput()
        unsafe input = allocated
        if let pipe { unsafe allocated.pointee.pb = pipe.io }
        // A playlist or a reference inside the file may name other local files, never the network.
        var options: OpaquePointer?
        unsafe av_dict_set(&options, "protocol_whitelist", "file", 0)
        defer { unsafe av_dict_free(&options) }
        try check(
            unsafe avformat_open_input(&input, pipe == nil ? "file:\(path)" : nil, nil, &options), "avformat_open_input"
        )
        guard let input = unsafe input else { return }
        try check(
            unsafe StreamAnalysis.run(input, maximumPixels: pictureLimits.pixels), "avformat_find_stream_info")
    }

    private func open(
        _ network: FFmpegNetworkConfiguration, asked pace: SourcePacing?, _ context: SourceContext
    ) throws(InletError) {
        limits = (network.firstTimeout, network.readTimeout)
        let connection = try NetworkConnection(network, interruption: interruption, nested: nested, context: context)
        unsafe input = try unsafe connection.open()
        isParsed = unsafe try connection.findParameters(input)
        guard let input = unsafe input else { return }
        pacing = unsafe pace ?? connection.pacing(input)
        isFile = unsafe connection.isFile(input)
        makesTimesUp = unsafe connection.makesTimesUp(input)
    }

    /// Reads on until the stream shows that it has video: RTMP and HTTP tell only as they go. The packet that shows it is the first that is decoded.
    private func awaitVideo(_ context: SourceContext) throws(InletError) {
        interruption.allow(limits?.first)
        var count = 0
        while !hasVideo {
            isParsed = true
            packet.unref()
            let code = unsafe av_read_frame(input, packet.pointer)
            let facts = FFmpegLogging.takeFacts()
            try checkInterruption(context, limits?.first)
            guard code >= 0 || code == inlet_averror_eagain else {
                throw NetworkTrouble.error(code, facts, operation: "av_read_frame")
            }
            count += 1
            // Audio and data alone, for so long: there will be no video.
            guard count < Self.packetsWithoutVideo else { return }
            isPacketPending = code >= 0 && hasVideo
        }
    }

    /// Takes the payloads of RTP as they come, where nothing was parsed yet.
    private func assembleUnits(of network: FFmpegNetworkConfiguration) throws(InletError) {
        guard network.url.lowercased().hasPrefix("rtsp"), !isParsed, let input = unsafe input,
            let parameters = unsafe input.pointee.streams[stream.index]?.pointee.codecpar
        else { return }
        assembler = unsafe try AccessUnitAssembler(
            parameters, comesByUDP: [.udp, .multicast].contains(network.transport))
        if assembler != nil { unsafe input.pointee.flags |= AVFMT_FLAG_NOPARSE | AVFMT_FLAG_NOFILLIN }
    }

    private static let packetsWithoutVideo = 2000

    private var hasVideo: Bool {
        guard let input = unsafe input else { return false }
        return (0..<Int(unsafe input.pointee.nb_streams)).contains { index in
            guard let parameters = unsafe input.pointee.streams[index]?.pointee.codecpar else { return false }
            return unsafe parameters.pointee.codec_type == AVMEDIA_TYPE_VIDEO
                && parameters.pointee.codec_id != AV_CODEC_ID_NONE
        }
    }

    private func findStream(_ wanted: Int?) throws(InletError) {
        guard let input = unsafe input else { return }
        let index = unsafe av_find_best_stream(input, AVMEDIA_TYPE_VIDEO, Int32(clamping: wanted ?? -1), -1, nil, 0)
        guard index >= 0, let found = unsafe input.pointee.streams[Int(index)] else {
            throw InletError(
                .unsupported,
                wanted.map { "Stream \($0) is no video stream. ffprobe lists what there is." }
                    ?? "It holds no video. ffprobe lists what it holds.",
                context: .init(operation: "av_find_best_stream", nativeCode: index))
        }
        for other in 0..<Int(unsafe input.pointee.nb_streams) where other != Int(index) {
            unsafe input.pointee.streams[other]?.pointee.discard = AVDISCARD_ALL
        }
        let parameters = unsafe found.pointee.codecpar.pointee
        let size = unsafe ImageSize(width: Int(parameters.width), height: Int(parameters.height))
        guard size.fits(in: pictureLimits.size) else { throw pictureLimits.refusal("Pictures of \(size) have") }
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

    /// What the stream's packets are.
    var codecParameters: CodecParameters? {
        guard let codec = unsafe input?.pointee.streams[stream.index]?.pointee.codecpar.pointee else { return nil }
        let format = format
        var parameters = CodecParameters(
            codec: VideoCodec(rawValue: format.codec ?? ""), size: format.size, timeBase: stream.timeBase,
            frameRate: stream.frameRate, colorSpace: format.colorSpace, rotation: stream.rotation,
            sampleAspectRatio: stream.sampleAspectRatio, pixelFormat: format.pixelFormat)
        if let data = unsafe codec.extradata {
            parameters.extraData = unsafe [UInt8](
                UnsafeBufferPointer(start: data, count: max(0, Int(codec.extradata_size))))
        }
        if unsafe codec.profile >= 0 { parameters.profile = unsafe Int(codec.profile) }
        if unsafe codec.level >= 0 { parameters.level = unsafe Int(codec.level) }
        return parameters
    }

    /// What the container says of the whole. The size is zero where only the first picture will tell.
    var format: SourceFormat {
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
        if limits != nil {
            let bits = unsafe Int(found.pointee.pts_wrap_bits)
            format.isBroadcast = !hasEnd
            format.timestampBits = makesTimesUp || bits >= 64 ? nil : bits
        }
        if let name = unsafe input.pointee.iformat?.pointee.name { format.container = unsafe String(cString: name) }
        let length = unsafe found.pointee.duration
        if length != inlet_av_nopts_value, length > 0 {
            format.duration = MediaTime(ticks: length, timeBase: stream.timeBase)
        } else if unsafe input.pointee.duration > 0 {
            format.duration = unsafe MediaTime(ticks: input.pointee.duration, timeBase: Rational(1, 1_000_000))
        }
        return format
    }

    /// The stream's next packet, valid until the next call; nil at the end of a stream that has one.
    ///
    /// Damage makes libavformat fail once and go on, so a few failures in a row are passed over and counted.
    ///
    /// - Throws: what a server or the network failed with; ``InletError/Code/timedOut`` where no packet came in time.
    func nextPacket(_ context: SourceContext) throws(InletError) -> FFmpegPacket? {
        if isPacketPending {
            isPacketPending = false
            if packet.streamIndex == stream.index { return packet }
        }
        var failures = 0
        let limit = limits.map { hasRead ? $0.later : $0.first }
        interruption.allow(limit)
        while true {
            packet.unref()
            let code = unsafe av_read_frame(input, packet.pointer)
            let facts = limits == nil ? FFmpegLogging.Facts() : FFmpegLogging.takeFacts()
            losses += facts.losses
            if code == inlet_averror_eof, let last = assembler?.takeLast() {
                note(last.pts)
                if hasPlayedAll { return last }
                // Whoever died has not said whether the picture was at its end.
                context.countDrop(.damaged)
            }
            switch code {
            case 0...:
                // What libavformat has held back comes out when an operation was told to give up, as if it had arrived.
                if interruption.hasExpired { try checkInterruption(context, limit) }
                failures = 0
                nested.notePacket()
                if nested.isSecure {
                    unsafe nested.noteSeeks(of: input?.pointee.pb)
                    try nested.check()
                }
                guard packet.streamIndex == stream.index else {
                    try checkInterruption(context, limit)
                    continue
                }
                hasRead = true
                context.reportProgress()
                guard let unit = try assemble(isAfterLoss: facts.losses > 0) else {
                    try checkInterruption(context, limit)
                    continue
                }
                if makesTimesUp {
                    unit.pts = nil
                    unit.dts = nil
                }
                note(unit.pts)
                return unit
            case inlet_averror_eof where limits == nil || hasEnd || hasPlayedAll: return nil
            case -ENOMEM: throw InletError(ffmpeg: code, operation: "av_read_frame")
            default: try checkInterruption(context, limit)
            }
            if code == inlet_averror_eagain { continue }
            if limits != nil && code != inlet_averror_invaliddata {
                throw NetworkTrouble.error(code, facts, operation: "av_read_frame")
            }
            failures += 1
            context.countDrop(.undecodable)
            guard failures >= Self.toleratedFailures else { continue }
            guard limits != nil else { return nil }
            throw InletError(
                .malformedData, "The server sends nothing that can be understood. Check with ffprobe what it is.",
                context: .init(operation: "av_read_frame", nativeCode: code))
        }
    }

    private func note(_ time: Int64?) {
        if let time { span = (span?.first ?? time, max(span?.last ?? time, time)) }
    }

    /// What the packet completes: itself, or a picture whose last piece came before it.
    private func assemble(isAfterLoss: Bool) throws(InletError) -> FFmpegPacket? {
        guard let assembler else { return packet }
        defer { losses += assembler.takeLosses() }
        return try assembler.add(&packet, isAfterLoss: isAfterLoss)
    }

    /// How often something was missing from what came over the network, since the last call.
    func takeLosses() -> Int {
        defer { losses = 0 }
        return losses
    }

    /// Whether the stream has an end of its own: a file that is not played as if it were live.
    private var hasEnd: Bool { pacing != .live && isFile }

    /// Whether a server that plays a recording at its own speed has come to its end, give or take a second. One that is killed has not.
    private var hasPlayedAll: Bool {
        guard let length = format.duration, let span else { return false }
        let (ticks, overflow) = span.last.subtractingReportingOverflow(span.first)
        // Nobody has played for so long.
        guard !overflow else { return false }
        let played = MediaTime(ticks: ticks, timeBase: stream.timeBase)
        return played.nanoseconds.subtracting(saturating: length.nanoseconds).magnitude < 1_000_000_000
    }

    /// Throws where an operation ended because it was to.
    private func checkInterruption(_ context: SourceContext, _ limit: Duration?) throws(InletError) {
        try context.checkCancellation()
        try nested.check()
        guard let limit, interruption.hasExpired else { return }
        throw InletError(
            .timedOut,
            hasRead
                ? "Nothing came for \(limit.optionText). The server or what lies between has stopped. read-timeout sets how long to wait."
                : "The server promised a stream, but nothing came within \(limit.optionText). first-timeout sets how long to wait.",
            context: .init(operation: "av_read_frame"))
    }

    /// Stands still; false where the server cannot.
    func pause() -> Bool {
        guard limits != nil else { return true }
        interruption.allow(limits?.later)
        return unsafe av_read_pause(input) == 0
    }

    /// Goes on after a pause.
    func play() throws(InletError) {
        guard limits != nil else { return }
        hasRead = false
        assembler?.reset()
        interruption.allow(limits?.first)
        let code = unsafe av_read_play(input)
        if code < 0 { throw NetworkTrouble.error(code, FFmpegLogging.takeFacts(), operation: "av_read_play") }
    }

    /// More failures in a row than this are taken for the end of what can be read.
    private static let toleratedFailures = 32

    /// Goes to the key frame before `time`, counted from the start of the stream.
    func seek(to time: Duration) throws(InletError) {
        guard let input = unsafe input, let found = unsafe input.pointee.streams[stream.index] else { return }
        let start = unsafe found.pointee.start_time
        let origin = start == inlet_av_nopts_value ? 0 : start
        let nanosecond = Rational(1, 1_000_000_000)
        let length = MediaTime(ticks: time.wholeNanoseconds, timeBase: nanosecond).rescaled(to: stream.timeBase)
        let target = origin.adding(saturating: length.ticks)
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

import CFFmpeg
import InletCore
import InletDecode
import InletFFmpeg

/// Owns a libavformat input: opens it, finds the stream, reads its packets.
///
/// Used by one thread at a time. libavformat asks the interrupt callback whether to give up, so no call outlasts a
/// cancellation by more than one read of a local file.
@safe final class Demuxer {
    private(set) var input: UnsafeMutablePointer<AVFormatContext>?
    let pipe: PipeInput?
    private let interruption: Interruption
    private let nested: NestedInputs
    private var packet: FFmpegPacket
    /// libavformat has parsed packets, and goes on so.
    private var isParsed = false
    /// Makes access units of RTP payloads; nil where libavformat does.
    private var assembler: AccessUnitAssembler?
    private(set) var stream: StreamFacts

    /// What is read from. Known when the input is open.
    private(set) var kind = InputKind.file
    /// How frames come.
    private(set) var pacing: SourcePacing
    private let pictureLimits: PictureLimits
    /// How long the first and later packets may take; nil for what is no network, for which the bridge's limits are
    /// enough.
    private var limits: (first: Duration, later: Duration)?
    private var hasRead = false
    /// A packet was read that has not been given out.
    private var isPacketPending = false
    /// The times of the first packet and of the latest, in ticks.
    private var span: (first: Int64, last: Int64)?
    private var losses = 0
    /// The demuxer counts frames instead of telling their times.
    private(set) var makesTimesUp = false

    init(_ source: FFmpegInput, context: SourceContext) throws(InletError) {
        if case .file(let path) = source.kind { pipe = try PipeInput(path: path, context: context) } else { pipe = nil }
        nested = try source.makeNestedInputs()
        interruption = Interruption(context, nested: nested)
        packet = try FFmpegPacket()
        stream = StreamFacts(index: 0, timeBase: Rational(1), rotation: .none)
        pacing = source.pace ?? .unpaced
        pictureLimits = source.decoding.limits
        FFmpegLogging.install()
        do throws(InletError) {
            switch source.kind {
            case .file(let path): try openFile(path, context)
            case .network(let network): try open(network, asked: source.pace, context)
            }
            if kind.isNetwork || kind == .livePipe { try awaitVideo(context) }
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

    private func openFile(_ path: String, _ context: SourceContext) throws(InletError) {
        if let pipe {
            kind = pacing == .live && pipe.canBeOpenedAnew ? .livePipe : .pipe
        } else if pacing == .live {
            throw InletError(.invalidConfiguration, "A file is not live: pace=live is for FIFOs and devices.")
        }
        let allocated = unsafe try interruption.makeInput()
        unsafe input = allocated
        if let pipe { unsafe allocated.pointee.pb = pipe.io }
        // A playlist or a reference inside the file may name other local files, never the network.
        var options: OpaquePointer?
        unsafe av_dict_set(&options, "protocol_whitelist", "file", 0)
        // In microseconds, instead of 5 s: whoever writes may do so as the pictures come.
        if pipe != nil { unsafe av_dict_set(&options, "analyzeduration", "1000000", 0) }
        defer { unsafe av_dict_free(&options) }
        try check(
            unsafe avformat_open_input(&input, pipe == nil ? "file:\(path)" : nil, nil, &options), "avformat_open_input"
        )
        guard let input = unsafe input else { return }
        guard kind != .livePipe else {
            // As of a live network stream, the first key frame tells the size.
            makesTimesUp = unsafe NetworkConnection.makesTimesUp(input)
            return
        }
        try check(
            unsafe StreamAnalysis.run(input, maximumPixels: pictureLimits.size.decodedPixelCount),
            "avformat_find_stream_info")
        // It is content with what it has read where it was told to give up.
        try context.checkCancellation()
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
        kind = unsafe pacing != .live && connection.isFile(input) ? .networkFile : .liveNetwork
        makesTimesUp = unsafe NetworkConnection.makesTimesUp(input)
    }

    /// Reads on until the stream shows that it has video: RTMP and HTTP tell only as they go. The packet that shows it
    /// is the first that is decoded.
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
                throw failure(reading(code).byteError ?? code, facts)
            }
            count += 1
            // Audio and data alone, for so long: there will be no video.
            guard count < Self.packetsWithoutVideo else { return }
            isPacketPending = code >= 0 && hasVideo
        }
    }

    /// Takes the payloads of RTP as they come, where nothing was parsed yet.
    private func assembleUnits(of network: FFmpegNetworkConfiguration) throws(InletError) {
        guard network.url.lowercasedASCII.hasBytePrefix("rtsp"), !isParsed, let input = unsafe input,
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
                wanted == nil && kind.hasEnd ? .malformedData : .unsupported,
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

    /// The stream's next packet, valid until the next call; nil at the end of a stream that has one.
    ///
    /// Damage makes libavformat fail once and go on, so a few failures in a row are passed over and counted.
    ///
    /// - Throws: what reading, a server or the network failed with; ``InletError/Code/timedOut`` where no packet came
    ///   in time.
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
            let facts = kind.isNetwork ? FFmpegLogging.takeFacts() : FFmpegLogging.Facts()
            losses += facts.losses
            if code == inlet_averror_eof, let last = assembler?.takeLast() {
                note(last.pts)
                if hasPlayedAll { return last }
                // Whoever died has not said whether the picture was at its end.
                context.countDrop(.damaged)
            }
            guard code >= 0 else {
                guard try isOver(reading(code), facts, failures: failures, limit, context) else {
                    if code != inlet_averror_eagain { failures += 1 }
                    continue
                }
                return nil
            }
            // What libavformat has held back comes out when a read was told to give up, as if it had arrived.
            try checkInterruption(context, limit)
            failures = 0
            nested.notePacket()
            guard packet.streamIndex == stream.index else { continue }
            hasRead = true
            context.reportProgress()
            guard let unit = try assemble(isAfterLoss: facts.losses > 0) else { continue }
            if makesTimesUp {
                unit.pts = nil
                unit.dts = nil
            }
            note(unit.pts)
            return unit
        }
    }

    /// What libavformat says of a read that gave no packet.
    private func reading(_ code: Int32) -> ReadOutcome.Reading {
        var reading = ReadOutcome.Reading(code: code)
        if let io = unsafe input?.pointee.pb {
            let error = unsafe io.pointee.error
            reading.byteError = error < 0 && error != inlet_averror_eof ? error : nil
            reading.isAtEnd = unsafe io.pointee.eof_reached != 0
        }
        return reading
    }

    /// Whether the stream has ended where a read gave no packet; false where it is to be read on.
    ///
    /// - Parameter failures: how many reads in a row gave nothing that can be understood, before this one.
    private func isOver(
        _ reading: ReadOutcome.Reading, _ facts: FFmpegLogging.Facts, failures: Int, _ limit: Duration?,
        _ context: SourceContext
    ) throws(InletError) -> Bool {
        var outcome = ReadOutcome(reading, of: kind, hasPlayedAll: hasPlayedAll)
        // A read that was told to give up looks like the end, or like anything else.
        if outcome != .end || reading.byteError != nil { try checkInterruption(context, limit) }
        if outcome == .skip {
            context.countDrop(.undecodable)
            if failures + 1 >= Self.toleratedFailures { outcome = ReadOutcome(givingUp: reading, of: kind) }
        }
        switch outcome {
        case .end: return true
        case .tryAgain, .skip: return false
        case .fail(let code): throw failure(code, facts)
        }
    }

    /// The error for what a read failed with.
    private func failure(_ code: Int32, _ facts: FFmpegLogging.Facts) -> InletError {
        let operation = "av_read_frame"
        let context = InletError.Context(operation: operation, nativeCode: code)
        switch code {
        case inlet_averror_invaliddata:
            return InletError(
                .malformedData, "Nothing more can be understood of what is read. Check with ffprobe what it is.",
                context: context)
        case _ where kind.isNetwork: return NetworkTrouble.error(code, facts, operation: operation)
        case inlet_averror_eof:
            return InletError(.streamEnded, "Whoever wrote to the pipe has closed it.", context: context)
        default: return InletError(ffmpeg: code, operation: operation)
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

    /// Whether a server that plays a recording at its own speed has come to its end, give or take a second. One that is
    /// killed has not.
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

    /// Stands still; false where the input cannot: what a camera writes to a pipe meanwhile would be shown late.
    func pause() -> Bool {
        guard kind.isNetwork else { return kind.hasEnd }
        interruption.allow(limits?.later)
        return unsafe av_read_pause(input) == 0
    }

    /// Goes on after a pause.
    func play() throws(InletError) {
        guard kind.isNetwork else { return }
        hasRead = false
        assembler?.reset()
        interruption.allow(limits?.first)
        let code = unsafe av_read_play(input)
        if code < 0 { throw NetworkTrouble.error(code, FFmpegLogging.takeFacts(), operation: "av_read_play") }
    }

    /// More failures in a row than this are taken for the end of what can be read.
    private static let toleratedFailures = 32

    /// Goes to the key frame before `time`, counted from the start of the stream.
    ///
    /// - Returns: the time in ticks.
    func seek(to time: Duration) throws(InletError) -> Int64? {
        guard let input = unsafe input, let found = unsafe input.pointee.streams[stream.index] else { return nil }
        let start = unsafe found.pointee.start_time
        let origin = start == inlet_av_nopts_value ? 0 : start
        let nanosecond = Rational(1, 1_000_000_000)
        let length = MediaTime(ticks: time.wholeNanoseconds, timeBase: nanosecond).rescaled(to: stream.timeBase)
        let target = origin.adding(saturating: length.ticks)
        try check(
            unsafe av_seek_frame(input, Int32(stream.index), target, AVSEEK_FLAG_BACKWARD), "av_seek_frame")
        return target
    }

    /// Goes back to the beginning.
    func rewind() throws(InletError) {
        let start = unsafe input?.pointee.start_time ?? 0
        let target = start == inlet_av_nopts_value ? 0 : start
        try check(
            unsafe avformat_seek_file(input, -1, .min, target, target, AVSEEK_FLAG_BACKWARD), "avformat_seek_file")
    }

    private func check(_ code: Int32, _ operation: String) throws(InletError) {
        if code < 0 { throw InletError(ffmpeg: code, operation: operation) }
    }
}

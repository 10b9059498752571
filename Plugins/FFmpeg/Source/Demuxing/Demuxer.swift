import CFFmpeg
import InletCore
import InletDecode
import InletFFmpeg

// Unsafe: owns a libavformat input.
/// Owns an input opened by libavformat: finds the stream and reads its packets.
///
/// Used by one thread at a time. libavformat checks the interrupt callback, so no call outlasts a cancellation by more
/// than one read of a local file.
@safe final class Demuxer {
    private let input: any DemuxerInput
    /// Never nil after `init`.
    private(set) var formatContext: UnsafeMutablePointer<AVFormatContext>?
    private(set) var facts: InputFacts
    private(set) var stream: StreamFacts
    private let pictureLimits: PictureLimits
    private var packet: FFmpegPacket
    /// Whether the most recently read packet is returned next.
    var isPacketPending = false
    /// The stream's first packet; nil until it has been read.
    private(set) var firstPacket: PacketIdentity?
    /// Joins RTP payloads into access units; nil if libavformat does.
    private var assembler: AccessUnitAssembler?
    /// The times of the first and the latest packet, in ticks.
    private var span: (first: Int64, last: Int64)?
    private var losses = 0

    init(_ source: FFmpegInput, context: SourceContext) throws(InletError) {
        FFmpegLogging.install()
        input = try source.makeDemuxerInput(context)
        packet = try FFmpegPacket()
        facts = InputFacts(kind: .file, pacing: .unpaced)
        stream = StreamFacts(index: 0, timeBase: Rational(1), rotation: .none)
        pictureLimits = source.decoding.limits
        do throws(InletError) {
            let formatContext = unsafe try input.open()
            unsafe self.formatContext = formatContext
            facts = unsafe try input.analyze(formatContext)
            if facts.showsVideoLate { try awaitVideo() }
            try findStream(source.stream)
            if let rate = facts.frameRate { stream.frameRate = rate }
            if !facts.isParsed { try assembleUnits() }
        } catch {
            // Closes without the grace period of `deinit`.
            unsafe avformat_close_input(&formatContext)
            // libavformat reports only that it was interrupted, but not why.
            try context.checkCancellation()
            throw error
        }
    }

    deinit {
        input.interruption.beginClosing()
        unsafe avformat_close_input(&formatContext)
    }

    /// Reads until the stream turns out to have video. The packet that shows this is the first to be decoded.
    private func awaitVideo() throws(InletError) {
        input.beginRead()
        var count = 0
        while unsafe formatContext?.pointee.hasVideo == false {
            facts.isParsed = true
            packet.unref()
            let code = unsafe av_read_frame(formatContext, packet.pointer)
            let logged = input.takeFacts()
            try input.checkRead()
            guard code >= 0 || code == inlet_averror_eagain else {
                throw failure(reading(code).byteError ?? code, logged)
            }
            if code >= 0, let opened = unsafe formatContext?.pointee,
                unsafe opened.holdsUnknownVideo(in: packet.streamIndex)
            {
                throw unsafe opened.unknownVideo
            }
            count += 1
            // If only audio and data have arrived for this long, there will be no video.
            guard count < Self.packetsWithoutVideo else { return }
            isPacketPending = unsafe code >= 0 && formatContext?.pointee.hasVideo == true
        }
    }

    /// Makes libavformat deliver unparsed packets if the input has an assembler for their access units.
    private func assembleUnits() throws(InletError) {
        guard let formatContext = unsafe formatContext,
            let parameters = unsafe formatContext.pointee.streams[stream.index]?.pointee.codecpar
        else { return }
        assembler = unsafe try input.makeAssembler(parameters)
        if assembler != nil { unsafe formatContext.pointee.flags |= AVFMT_FLAG_NOPARSE | AVFMT_FLAG_NOFILLIN }
    }

    private static let packetsWithoutVideo = 2000

    private func findStream(_ wanted: Int?) throws(InletError) {
        guard let formatContext = unsafe formatContext else { return }
        let index = unsafe av_find_best_stream(
            formatContext, AVMEDIA_TYPE_VIDEO, Int32(clamping: wanted ?? -1), -1, nil, 0)
        guard index >= 0, let found = unsafe formatContext.pointee.streams[Int(index)] else {
            throw InletError(
                wanted == nil && facts.kind.hasEnd ? .malformedData : .unsupported,
                wanted.map { "Stream \($0) is not a video stream. List the streams with ffprobe." }
                    ?? "The input has no video. List its streams with ffprobe.",
                context: .init(operation: "av_find_best_stream", nativeCode: index))
        }
        guard unsafe !formatContext.pointee.holdsUnknownVideo(in: Int(index)) else {
            throw unsafe formatContext.pointee.unknownVideo
        }
        for other in 0..<Int(unsafe formatContext.pointee.nb_streams) where other != Int(index) {
            unsafe formatContext.pointee.streams[other]?.pointee.discard = AVDISCARD_ALL
        }
        let parameters = unsafe found.pointee.codecpar.pointee
        let size = unsafe ImageSize(width: Int(parameters.width), height: Int(parameters.height))
        guard size.fits(in: pictureLimits.size) else { throw pictureLimits.refusal("Pictures of \(size) have") }
        let orientation = unsafe Self.orientation(of: found)
        stream = unsafe StreamFacts(
            index: Int(index), timeBase: Rational(known: found.pointee.time_base) ?? Rational(1, 1_000_000),
            rotation: orientation?.rotation ?? .none, isMirrored: orientation?.isMirrored ?? false,
            sampleAspectRatio: Rational(known: av_guess_sample_aspect_ratio(formatContext, found, nil)),
            hasContainerAspectRatio: Rational(known: found.pointee.sample_aspect_ratio) != nil,
            frameRate: Rational(known: av_guess_frame_rate(formatContext, found, nil)))
    }

    /// Returns the stream's next packet, valid until the next call; nil at the end of the stream.
    ///
    /// Damaged data makes libavformat fail once and then continue, so a few consecutive failures are skipped and
    /// counted.
    ///
    /// - Throws: the failure of a read, the server or the network; ``InletError/Code/timedOut`` if no packet arrived in
    ///   time.
    func nextPacket(_ context: SourceContext) throws(InletError) -> FFmpegPacket? {
        if isPacketPending {
            isPacketPending = false
            if packet.streamIndex == stream.index {
                firstPacket = firstPacket ?? PacketIdentity(packet)
                return packet
            }
        }
        var failures = 0
        input.beginRead()
        while true {
            packet.unref()
            let code = unsafe av_read_frame(formatContext, packet.pointer)
            let logged = input.takeFacts()
            losses += logged.losses
            if code == inlet_averror_eof, let last = assembler?.takeLast() {
                note(last.pts)
                if hasPlayedAll { return last }
                // A writer that died has not completed its last picture.
                context.countDrop(.damaged)
            }
            guard code >= 0 else {
                guard try isOver(reading(code), logged, failures: failures, context) else {
                    if code != inlet_averror_eagain { failures += 1 }
                    continue
                }
                return nil
            }
            // When a read is interrupted, libavformat returns the data that it held back as if it had just arrived.
            try input.checkRead()
            failures = 0
            let isWanted = packet.streamIndex == stream.index
            input.notePacket(isWanted: isWanted)
            guard isWanted else { continue }
            context.reportProgress()
            guard let unit = try assemble(isAfterLoss: logged.losses > 0) else { continue }
            if facts.makesTimesUp {
                unit.pts = nil
                unit.dts = nil
            }
            note(unit.pts)
            firstPacket = firstPacket ?? PacketIdentity(unit)
            return unit
        }
    }

    /// Returns libavformat's result for a read that returned no packet.
    private func reading(_ code: Int32) -> ReadOutcome.Reading {
        var reading = ReadOutcome.Reading(code: code)
        if let io = unsafe formatContext?.pointee.pb {
            let error = unsafe io.pointee.error
            reading.byteError = error < 0 && error != inlet_averror_eof ? error : nil
            reading.isAtEnd = unsafe io.pointee.eof_reached != 0
        }
        return reading
    }

    /// Returns whether the stream has ended after a read that returned no packet; false if reading should continue.
    ///
    /// - Parameter failures: the number of preceding consecutive reads that returned nothing decodable.
    private func isOver(
        _ reading: ReadOutcome.Reading, _ logged: FFmpegLogging.Facts, failures: Int, _ context: SourceContext
    ) throws(InletError) -> Bool {
        var outcome = ReadOutcome(reading, of: facts.kind, hasPlayedAll: hasPlayedAll)
        // An interrupted read looks like the end, or like any other failure.
        if outcome != .end || reading.byteError != nil { try input.checkRead() }
        if outcome == .skip {
            context.countDrop(.undecodable)
            if failures + 1 >= Self.toleratedFailures { outcome = ReadOutcome(givingUp: reading, of: facts.kind) }
        }
        switch outcome {
        case .end: return true
        case .tryAgain, .skip: return false
        case .fail(let code): throw failure(code, logged)
        }
    }

    /// Returns the error for a failed read.
    private func failure(_ code: Int32, _ logged: FFmpegLogging.Facts) -> InletError {
        guard code == inlet_averror_invaliddata else { return input.failure(code, logged) }
        return InletError(
            .malformedData, "The rest of the data is unreadable. Check the input with ffprobe.",
            context: .init(operation: "av_read_frame", nativeCode: code))
    }

    private func note(_ time: Int64?) {
        if let time { span = (span?.first ?? time, max(span?.last ?? time, time)) }
    }

    /// Returns the unit that the packet completes: itself, or a picture whose last piece arrived earlier.
    private func assemble(isAfterLoss: Bool) throws(InletError) -> FFmpegPacket? {
        guard let assembler else { return packet }
        defer { losses += assembler.takeLosses() }
        return try assembler.add(&packet, isAfterLoss: isAfterLoss)
    }

    /// Returns the number of gaps in the network's data since the last call.
    func takeLosses() -> Int {
        defer { losses = 0 }
        return losses
    }

    /// Whether a server that plays a recording at its own pace has reached the end, to within a second. A server that
    /// was killed has not.
    private var hasPlayedAll: Bool {
        guard let length = format.duration, let span else { return false }
        let (ticks, overflow) = span.last.subtractingReportingOverflow(span.first)
        // No server plays for that long.
        guard !overflow else { return false }
        let played = MediaTime(ticks: ticks, timeBase: stream.timeBase)
        return played.nanoseconds.subtracting(saturating: length.nanoseconds).magnitude < 1_000_000_000
    }

    /// Pauses the input; returns false if it cannot be paused.
    func pause() -> Bool {
        guard let formatContext = unsafe formatContext else { return false }
        return unsafe input.pause(formatContext)
    }

    /// Resumes the input after a pause.
    func play() throws(InletError) {
        guard let formatContext = unsafe formatContext else { return }
        assembler?.reset()
        unsafe try input.play(formatContext)
    }

    /// The number of consecutive failures after which the rest is considered unreadable.
    private static let toleratedFailures = 32
}

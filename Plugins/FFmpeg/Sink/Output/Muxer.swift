import CFFmpeg
import InletCore
import InletFFmpeg
import InletOutput
import InletSystem

// Unsafe: owns a libavformat output.
/// Owns a libavformat output with one stream.
///
/// Confined to one thread. libavformat checks the interrupt callback, so no network call outlasts its deadline.
@safe final class Muxer {
    private var output: UnsafeMutablePointer<AVFormatContext>?
    private let packet: FFmpegPacket
    private let deadline = OutputDeadline()
    /// The time limits; nil for files, because a disk that is slow for a while is no reason to end a recording, and
    /// its calls cannot be interrupted.
    private let limits: (connect: Duration, write: Duration)?
    private let streamTimeBase: AVRational
    /// The parameter sets that precede each key frame; nil if the container states them once.
    private var parameterSets: ParameterSets?
    private let repeatsParameterSets: Bool
    /// The parameters at the beginning.
    private let parameters: CodecParameters
    /// The parameters that the container must state with the next key frame.
    private var newParameters: CodecParameters?
    private var target: Target
    /// The SRT connection, which does not use libavformat's own protocol.
    private let connection: SRTOutput?
    private(set) var isWhole = true
    /// The number of bytes written before the first packet.
    private var headerByteCount: Int64 = 0
    /// The DTS of the previous packet, in the container's ticks.
    private var lastDTS: Int64?
    private var hasPackets = false
    /// Whether MP4 fragments get the time of day.
    private var writesWallClock = false
    /// The source's time of day minus the capture timeline, in nanoseconds, as last stated; nil until then.
    private var wallClockOffset: Int64?
    /// The time when the file's first picture was taken, in nanoseconds since 1970; nil if the source has not stated
    /// it.
    private var beginning: Int64?
    /// Whether a reader of the file finds a picture in it.
    private(set) var holdsPictures = false
    /// A loss at the end that became known although all writes succeeded, as a message for users.
    private(set) var loss: String?

    /// The destination of the packets.
    enum Target {
        case file(RecordingFile)
        case address(String)
    }

    /// Opens a file or a connection, and writes the header.
    ///
    /// - Throws: the failure. The output is then closed.
    init(_ settings: FFmpegOutput, to target: Target, _ parameters: CodecParameters) throws(InletError) {
        self.target = target
        limits = settings.container.isNetwork ? (settings.connectTimeout, settings.writeTimeout) : nil
        packet = try FFmpegPacket()
        connection = settings.container == .srt ? try SRTOutput(settings, deadline) : nil
        FFmpegLogging.install()
        _ = FFmpegLogging.takeFacts()
        repeatsParameterSets = settings.container.repeatsParameterSets(of: parameters.codec)
        parameterSets = repeatsParameterSets ? ParameterSets(parameters) : nil
        self.parameters = parameters
        var parameters = parameters
        // libavformat's own filters would add the sets to only some key frames, and always the initial ones.
        if let parameterSets { parameters.extraData = parameterSets.byteStream }
        var output: UnsafeMutablePointer<AVFormatContext>?
        do throws(InletError) {
            try settings.certificateCheck.refuseWhatCannotBeChecked(scheme: settings.scheme, isOutput: true)
            let code = unsafe avformat_alloc_output_context2(
                &output, nil, settings.container.muxer(for: parameters.codec), target.name)
            guard code >= 0, let context = unsafe output else {
                throw InletError(ffmpeg: code, operation: "avformat_alloc_output_context2")
            }
            unsafe context.pointee.interrupt_callback = deadline.callback
            // Written data must be stored even if the process dies.
            unsafe context.pointee.flush_packets = 1
            let stream = unsafe try Self.addStream(to: context, settings.container, parameters)
            if case .file(let file) = target, settings.container.isMatroska, parameters.rotation != .none {
                file.rotation = MatroskaRotation(parameters.rotation)
            }
            if case .file(let file) = target, settings.container == .mp4 { file.beginIndex() }
            if let limits { deadline.allow(limits.connect) }
            unsafe try Self.open(context, settings, parameters.codec, target, connection, deadline)
            unsafe streamTimeBase = stream.pointee.time_base
            headerByteCount = target.byteCount
        } catch {
            unsafe Self.free(&output, target, connection)
            // deinit does not run for an object that was not fully initialised.
            throw error.about(settings.redactedURI)
        }
        unsafe self.output = output
    }

    deinit { close(isBroken: !isWhole) }

    private static func addStream(
        to output: UnsafeMutablePointer<AVFormatContext>, _ container: FFmpegContainer, _ parameters: CodecParameters
    ) throws(InletError) -> UnsafeMutablePointer<AVStream> {
        guard let stream = unsafe avformat_new_stream(output, nil), let codec = unsafe stream.pointee.codecpar else {
            throw InletError(ffmpeg: -ENOMEM, operation: "avformat_new_stream")
        }
        unsafe try parameters.write(to: codec)
        unsafe stream.pointee.time_base = AVRational(parameters.timeBase)
        if let rate = parameters.frameRate { unsafe stream.pointee.avg_frame_rate = AVRational(rate) }
        if let ratio = parameters.sampleAspectRatio {
            unsafe stream.pointee.sample_aspect_ratio = AVRational(ratio)
        }
        // Apple's players accept HEVC only under this tag.
        if parameters.codec == .hevc, [.mp4, .hls].contains(container) {
            unsafe codec.pointee.codec_tag = 0x3163_7668  // "hvc1"
        }
        if parameters.rotation != .none || parameters.isMirrored, container.carriesRotation {
            unsafe setOrientation(parameters.orientation, of: stream)
        }
        if container.isMatroska, parameters.rotation != .none {
            unsafe av_dict_set(&stream.pointee.metadata, "title", MatroskaRotation.reservedName, 0)
        }
        return unsafe stream
    }

    private static func setOrientation(_ orientation: DisplayOrientation, of stream: UnsafeMutablePointer<AVStream>) {
        let size = 9 * MemoryLayout<Int32>.size
        guard let data = unsafe av_stream_new_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, size) else { return }
        unsafe data.withMemoryRebound(to: Int32.self, capacity: 9) { matrix in
            unsafe orientation.write(to: matrix)
        }
    }

    private static func open(
        _ output: UnsafeMutablePointer<AVFormatContext>, _ settings: FFmpegOutput, _ codec: VideoCodec,
        _ target: Target, _ connection: SRTOutput?, _ deadline: OutputDeadline
    ) throws(InletError) {
        var options: OpaquePointer?
        for (name, value) in settings.muxerOptions(for: codec) { unsafe av_dict_set(&options, name, value, 0) }
        defer { unsafe av_dict_free(&options) }
        switch target {
        case .file(let file): unsafe output.pointee.pb = file.io
        case .address where connection != nil: unsafe output.pointee.pb = connection?.io
        case .address(let address):
            guard unsafe output.pointee.oformat.pointee.flags & AVFMT_NOFILE == 0 else { break }
            let code = unsafe avio_open2(
                &output.pointee.pb, address, AVIO_FLAG_WRITE, &output.pointee.interrupt_callback, &options)
            if code < 0 { throw error(code, "avio_open2", settings, deadline) }
        }
        let code = unsafe avformat_write_header(output, &options)
        try connection?.check()
        if code < 0 { throw error(code, "avformat_write_header", settings, deadline) }
    }

    private static func error(
        _ code: Int32, _ operation: String, _ settings: FFmpegOutput, _ deadline: OutputDeadline
    ) -> InletError {
        OutputTrouble.error(
            code, FFmpegLogging.takeFacts(), operation: operation, settings, hasExpired: deadline.hasExpired)
    }

    /// Continues with other parameter sets of the same size and profile from the next packet on, which is a key frame.
    /// The sets precede each key frame from then on.
    ///
    /// - Returns: false if the file or connection does not support this.
    func follow(_ parameters: CodecParameters, _ settings: FFmpegOutput) -> Bool {
        guard parameters.continues(self.parameters), settings.container != .hls || repeatsParameterSets else {
            return false
        }
        // FLV states them outside the packets.
        if settings.container == .rtmp {
            newParameters = parameters
        } else {
            parameterSets = ParameterSets(parameters)
            if settings.container == .mp4, case .file(let file) = target { file.stateSetsInSamples() }
        }
        return true
    }

    /// Continues in another file. The current one is complete.
    ///
    /// - Parameter flushes: whether packets that libavformat holds back go into the current file.
    func go(on file: RecordingFile, _ settings: FFmpegOutput, flushes: Bool) throws(InletError) {
        guard let context = unsafe output, case .file(let current) = target else { return }
        if flushes { try check(unsafe av_write_frame(context, nil), settings) }
        var code: Int32 = 0
        if let io = unsafe current.io {
            unsafe avio_flush(io)
            code = unsafe io.pointee.error
        }
        let closed = current.close()
        unsafe context.pointee.pb = file.io
        target = .file(file)
        try check(code < 0 ? code : closed, settings)
        // A player may start with any segment.
        unsafe av_opt_set(context.pointee.priv_data, "mpegts_flags", "+resend_headers", 0)
    }

    /// Writes a packet.
    ///
    /// - Parameters:
    ///   - origin: the time to subtract from the packet's times, in ticks of its time base.
    ///   - duration: the duration in ticks of the packet's time base; 0 if unknown.
    func write(
        _ encoded: EncodedPacket, origin: Int64, duration: Int64, _ settings: FFmpegOutput
    ) throws(InletError) {
        packet.unref()
        var data = encoded.data
        if let parameterSets, repeatsParameterSets || encoded.isKey {
            data =
                repeatsParameterSets
                ? parameterSets.byteStream(of: data, isKey: encoded.isKey) : parameterSets.added(to: data)
        }
        let storage = unsafe data.storage
        guard let buffer = unsafe BufferOwnership.buffer(storage.memory, owner: storage.owner) else {
            throw InletError(ffmpeg: -ENOMEM, operation: "av_buffer_create")
        }
        let pointer = unsafe packet.pointer
        unsafe pointer.pointee.buf = buffer
        unsafe pointer.pointee.data = buffer.pointee.data
        unsafe pointer.pointee.size = Int32(clamping: storage.memory.count)
        unsafe pointer.pointee.pts = encoded.pts.ticks &- origin
        unsafe pointer.pointee.dts = encoded.dts.ticks &- origin
        unsafe pointer.pointee.duration = duration
        unsafe pointer.pointee.stream_index = 0
        if encoded.isKey { packet.markKey() }
        if let newParameters {
            packet.newExtraData = newParameters.extraData
            self.newParameters = nil
        }
        unsafe av_packet_rescale_ts(pointer, AVRational(encoded.pts.timeBase), streamTimeBase)
        // libavformat aborts the process for a longer duration in MP4.
        unsafe pointer.pointee.duration = min(pointer.pointee.duration, Int64(Int32.max))
        // Pictures of a live source may be so close together that milliseconds cannot distinguish them.
        let dts = max(unsafe pointer.pointee.dts, lastDTS.map { $0 &+ 1 } ?? .min)
        unsafe pointer.pointee.dts = dts
        unsafe pointer.pointee.pts = max(pointer.pointee.pts, dts)
        if settings.container == .mp4 {
            try bridgeGap(before: dts, settings)
            try noteWallClock(of: encoded, origin: origin, settings)
        }
        lastDTS = dts
        if let limits { deadline.allow(limits.write) }
        try check(unsafe av_write_frame(output, pointer), settings)
        hasPackets = true
        try beginWallClock(settings)
        packet.unref()
        if target.byteCount > headerByteCount { holdsPictures = true }
    }

    /// Makes fragments state the time, by the source's clock, when their first picture was taken (`prft`), from the
    /// first key frame on for which it is known. If the source states no time for a while, its clock is assumed to
    /// continue.
    private func noteWallClock(
        of encoded: EncodedPacket, origin: Int64, _ settings: FFmpegOutput
    ) throws(InletError) {
        if let wallClock = encoded.wallClock {
            wallClockOffset = wallClock.subtracting(saturating: encoded.captureTime.nanoseconds)
        }
        guard let wallClockOffset, writesWallClock || encoded.isKey else { return }
        let taken = encoded.captureTime.nanoseconds.adding(saturating: wallClockOffset)
        let place = MediaTime(ticks: encoded.pts.ticks.subtracting(saturating: origin), timeBase: encoded.pts.timeBase)
        beginning = beginning ?? taken.subtracting(saturating: place.nanoseconds)
        packet.setWallClock(taken)
        if !writesWallClock { try set("frag_duration", to: "1", settings) }
    }

    /// Turns on the time of day in fragments, after the first packet with a known time was written.
    ///
    /// libavformat (5.1) would put its own time into a fragment that is not written yet. When that packet arrived, it
    /// ended such a fragment, because the maximum duration was a microsecond. Ending the fragment before the packet
    /// arrives would be wrong: its last picture would get an assumed duration, and libavformat would move the packet
    /// to the end of that picture.
    private func beginWallClock(_ settings: FFmpegOutput) throws(InletError) {
        guard settings.container == .mp4, !writesWallClock, packet.hasWallClock else { return }
        try set("write_prft", to: "wallclock", settings)
        try set("frag_duration", to: FFmpegOutput.fragmentDuration, settings)
        writesWallClock = true
    }

    private func set(_ option: String, to value: String, _ settings: FFmpegOutput) throws(InletError) {
        guard let muxer = unsafe output?.pointee.priv_data else { return }
        try check(unsafe av_opt_set(muxer, option, value, 0), settings)
    }

    private func check(_ code: Int32, _ settings: FFmpegOutput) throws(InletError) {
        do throws(InletError) {
            try connection?.check()
            if code < 0 { throw Self.error(code, "av_write_frame", settings, deadline) }
        } catch {
            isWhole = false
            throw error.about(settings.redactedURI)
        }
    }

    /// Begins a fragment with its own time before a packet after a gap that is too long for a sample's 31-bit
    /// duration: 6.6 hours in ticks of 1/90000 s.
    ///
    /// A fragment that begins later than the previous one ended is a gap: ISO/IEC 14496-12, 8.8.12.
    private func bridgeGap(before dts: Int64, _ settings: FFmpegOutput) throws(InletError) {
        guard let lastDTS, dts.subtractingReportingOverflow(lastDTS).partialValue > Int64(Int32.max) else { return }
        // The first call may only write the index that precedes all fragments.
        for _ in 0..<2 { try check(unsafe av_write_frame(output, nil), settings) }
        try set("movflags", to: "+frag_discont", settings)
        // libavformat (5.1) checks a packet's distance before it takes that into account. A packet without data only
        // serves to trigger it.
        let empty = try FFmpegPacket()
        unsafe (empty.pointer.pointee.pts, empty.pointer.pointee.dts) = (lastDTS &+ 1, lastDTS &+ 1)
        try check(unsafe av_write_frame(output, empty.pointer), settings)
    }

    /// Writes the remaining data, and closes the file or the connection.
    ///
    /// - Throws: an error if not everything could be written.
    func finish(_ settings: FFmpegOutput) throws(InletError) {
        guard unsafe output != nil else { return }
        let code = close(isBroken: !isWhole)
        try connection?.check()
        if code < 0 { throw Self.error(code, "av_write_trailer", settings, deadline) }
    }

    @discardableResult
    private func close(isBroken: Bool) -> Int32 {
        guard unsafe output != nil else { return 0 }
        // Closing messages to a server get a grace period, and to a server that is gone almost none.
        if let limits {
            let time = connection?.closingTime ?? min(limits.write, .seconds(2))
            deadline.allow(isBroken ? .milliseconds(100) : time)
        }
        var code = unsafe av_write_trailer(output)
        // The muxer's result, such as the size of an index, hides an error of the file.
        if code >= 0, case .file = target, let io = unsafe output?.pointee.pb, unsafe io.pointee.error < 0 {
            code = unsafe io.pointee.error
        }
        if isBroken { code = 0 } else { loss = connection?.finish() }
        if code >= 0, !isBroken { code = writeIndex() }
        let closed = unsafe Self.free(&output, target, connection)
        code = code < 0 ? code : isBroken ? 0 : closed
        if code >= 0, !isBroken, hasPackets { holdsPictures = true }
        return code
    }

    /// Ends an MP4 file with its index.
    ///
    /// - Returns: 0, or an AVERROR if data may not have been stored.
    private func writeIndex() -> Int32 {
        guard case .file(let file) = target else { return 0 }
        let code = file.writeIndex(date: beginning)
        // Only this error concerns the pictures.
        guard code < 0, code != -EIO else { return code }
        loss = "Cannot write the index: \(SystemErrorText.of(-code)). Players will determine the file's length late."
        return 0
    }

    @discardableResult
    private static func free(
        _ output: inout UnsafeMutablePointer<AVFormatContext>?, _ target: Target, _ connection: SRTOutput?
    ) -> Int32 {
        var code: Int32 = 0
        if let context = unsafe output {
            if let connection {
                unsafe context.pointee.pb = nil
                connection.close()
            } else if case .address = target, unsafe context.pointee.oformat.pointee.flags & AVFMT_NOFILE == 0 {
                code = unsafe avio_closep(&context.pointee.pb)
            }
            unsafe avformat_free_context(context)
            unsafe output = nil
        }
        if case .file(let file) = target { code = file.close() }
        return code
    }
}

extension Muxer.Target {
    /// libavformat's name for the target.
    fileprivate var name: String {
        switch self {
        case .file(let file): file.path
        case .address(let address): address
        }
    }

    /// The number of stored bytes.
    fileprivate var byteCount: Int64 {
        if case .file(let file) = self { file.byteCount } else { 0 }
    }
}

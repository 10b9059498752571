import CFFmpeg
package import InletCore

// Unsafe: owns a libavformat output.
/// Owns a libavformat output that makes fragmented MP4 in memory: a beginning for players, and fragments that can be
/// played after it, each from a packet on.
///
/// Confined to one thread.
@safe package final class FragmentMuxer {
    /// Bytes of the stream.
    package enum Piece: Sendable {
        /// `ftyp` and `moov`, with which every player begins.
        case beginning([UInt8])
        /// `prft`, `moof` and `mdat` of the packets since the last one.
        case fragment([UInt8])
    }

    private var output: UnsafeMutablePointer<AVFormatContext>?
    private let packet: FFmpegPacket
    private let sink: MemorySink
    private let streamTimeBase: AVRational
    private var origin: Int64?
    private var lastDTS: Int64?
    /// The DTS of the last packet minus that of the one before; nil before the second packet.
    private var lastStep: Int64?
    /// The end of the last packet, as libavformat assumes it.
    private var end: Int64 = 0
    /// The bytes before all fragments; nil until they are written.
    private var beginning: [UInt8]?
    /// The sets that precede each key frame; nil if only the beginning states them.
    private var parameterSets: ParameterSets?
    private var hasPackets = false

    /// - Throws: ``InletError/Code/unsupported`` if MP4 does not hold the codec; an error of libavformat.
    package init(_ parameters: CodecParameters) throws(InletError) {
        guard [.h264, .hevc, .av1, .vp9].contains(parameters.codec) else {
            throw InletError(.unsupported, "A stream of MP4 holds H.264, HEVC, AV1 and VP9, not \(parameters.codec).")
        }
        packet = try FFmpegPacket()
        sink = try MemorySink()
        var context: UnsafeMutablePointer<AVFormatContext>?
        let code = unsafe avformat_alloc_output_context2(&context, nil, "mp4", nil)
        guard code >= 0, let output = unsafe context else {
            throw InletError(ffmpeg: code, operation: "avformat_alloc_output_context2")
        }
        do throws(InletError) {
            guard let stream = unsafe avformat_new_stream(output, nil), let codec = unsafe stream.pointee.codecpar
            else { throw InletError(ffmpeg: -ENOMEM, operation: "avformat_new_stream") }
            unsafe try parameters.write(to: codec)
            unsafe stream.pointee.time_base = AVRational(parameters.timeBase)
            if let rate = parameters.frameRate { unsafe stream.pointee.avg_frame_rate = AVRational(rate) }
            if let ratio = parameters.sampleAspectRatio {
                unsafe stream.pointee.sample_aspect_ratio = AVRational(ratio)
            }
            // Apple's players accept HEVC under this name only.
            if parameters.codec == .hevc { unsafe codec.pointee.codec_tag = 0x3163_7668 }
            unsafe output.pointee.pb = sink.io
            var options: OpaquePointer?
            defer { unsafe av_dict_free(&options) }
            for (name, value) in [
                ("movflags", "+frag_custom+delay_moov+default_base_moof"), ("avoid_negative_ts", "disabled"),
                ("strict", "experimental"), ("write_prft", "wallclock"),
            ] {
                unsafe av_dict_set(&options, name, value, 0)
            }
            let code = unsafe avformat_write_header(output, &options)
            if code < 0 { throw InletError(ffmpeg: code, operation: "avformat_write_header") }
            unsafe streamTimeBase = stream.pointee.time_base
        } catch {
            unsafe output.pointee.pb = nil
            unsafe avformat_free_context(output)
            throw error
        }
        unsafe self.output = output
    }

    deinit {
        guard let output = unsafe output else { return }
        // Without a trailer: no reader gets one.
        unsafe output.pointee.pb = nil
        unsafe avformat_free_context(output)
    }

    /// Adds a packet.
    ///
    /// - Parameter wallClock: when its picture was taken, in nanoseconds since 1970, which `prft` gives to players.
    package func add(_ encoded: EncodedPacket, wallClock: Int64) throws(InletError) {
        packet.unref()
        try packet.fill(sharing: encoded.isKey ? parameterSets?.added(to: encoded.data) ?? encoded.data : encoded.data)
        let start = origin ?? encoded.dts.ticks
        origin = start
        let pointer = unsafe packet.pointer
        unsafe pointer.pointee.pts = encoded.pts.ticks.subtracting(saturating: start)
        unsafe pointer.pointee.dts = encoded.dts.ticks.subtracting(saturating: start)
        unsafe pointer.pointee.duration = encoded.duration?.rescaled(to: encoded.pts.timeBase).ticks ?? 0
        unsafe pointer.pointee.stream_index = 0
        if encoded.isKey { packet.markKey() }
        unsafe av_packet_rescale_ts(pointer, AVRational(encoded.pts.timeBase), streamTimeBase)
        var dts = max(unsafe pointer.pointee.dts, lastDTS.map { $0 &+ 1 } ?? .min)
        // A sample's duration has 31 bits: a longer gap is cut, and the player shows what follows earlier.
        if let lastDTS, dts.subtracting(saturating: lastDTS) > Int64(Int32.max) { dts = lastDTS + Int64(Int32.max) }
        if beginning != nil, !hasPackets { dts = try beginFragment(at: dts) }
        let step = lastDTS.map { dts - $0 }
        if unsafe pointer.pointee.duration <= 0, let step {
            // The next packet's time is not known yet: it is most likely as far away as this one is from the last,
            // unless there was a gap.
            unsafe pointer.pointee.duration = min(step, lastStep ?? step)
        }
        // libavformat aborts the process for a longer one.
        unsafe pointer.pointee.duration = min(max(0, pointer.pointee.duration), Int64(Int32.max))
        unsafe pointer.pointee.dts = dts
        unsafe pointer.pointee.pts = max(pointer.pointee.pts, dts)
        (lastDTS, lastStep) = (dts, step)
        end = dts.adding(saturating: unsafe pointer.pointee.duration)
        packet.setWallClock(wallClock)
        let code = unsafe av_write_frame(output, pointer)
        packet.unref()
        if code < 0 { throw InletError(ffmpeg: code, operation: "av_write_frame") }
        hasPackets = true
    }

    /// Lets the next packet begin a fragment with its own time.
    ///
    /// libavformat (5.1) would otherwise move it to the end that it assumed, and wrote, for the packet before it. A
    /// fragment that begins later is a gap: ISO/IEC 14496-12, 8.8.12. No fragment can begin earlier.
    ///
    /// - Returns: the DTS that the packet must have.
    private func beginFragment(at dts: Int64) throws(InletError) -> Int64 {
        guard dts > end else { return end }
        guard let output = unsafe output else { return dts }
        let code = unsafe av_opt_set(output.pointee.priv_data, "movflags", "+frag_discont", 0)
        if code < 0 { throw InletError(ffmpeg: code, operation: "av_opt_set") }
        return dts
    }

    /// Goes on with other parameter sets, of the same size and profile, from the next packet on. They precede each key
    /// frame from now on.
    ///
    /// - Returns: the beginning for players that begin later; nil if it stays as it is, or is not written yet.
    package func follow(_ parameters: CodecParameters) -> Piece? {
        parameterSets = ParameterSets(parameters)
        guard let earlier = beginning else { return nil }
        beginning = named(earlier)
        return beginning.flatMap { $0 == earlier ? nil : .beginning($0) }
    }

    /// Returns a beginning that states whether parameter sets may be in the samples.
    private func named(_ bytes: [UInt8]) -> [UInt8] {
        guard parameterSets != nil, let (offset, name) = SampleEntry.change(in: bytes) else { return bytes }
        return bytes[..<offset] + name + bytes[(offset + name.count)...]
    }

    /// Ends the fragment of the packets since the last one.
    ///
    /// - Returns: its bytes, preceded by the beginning if it is the first.
    package func flush() throws(InletError) -> [Piece] {
        guard hasPackets else { return [] }
        hasPackets = false
        var pieces: [Piece] = []
        if beginning == nil {
            // The first call writes only what precedes all fragments.
            try flushOnce()
            let bytes = named(sink.take())
            beginning = bytes
            pieces.append(.beginning(bytes))
        }
        try flushOnce()
        let bytes = sink.take()
        if !bytes.isEmpty { pieces.append(.fragment(bytes)) }
        return pieces
    }

    private func flushOnce() throws(InletError) {
        let code = unsafe av_write_frame(output, nil)
        if code < 0 { throw InletError(ffmpeg: code, operation: "av_write_frame") }
        unsafe avio_flush(output?.pointee.pb)
    }
}

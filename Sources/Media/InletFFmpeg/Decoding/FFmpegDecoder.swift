package import CFFmpeg
package import InletCore
import InletSystem

// Unsafe: owns a libavcodec decoder.
/// Owns a libavcodec decoder: compressed packets in, ``FFmpegFrame``s out, in presentation order.
///
/// Confined to one thread; libavcodec may run internal threads. Frames outlive the decoder: their buffers
/// belong to a reference-counted pool.
@safe package final class FFmpegDecoder {
    private let context: UnsafeMutablePointer<AVCodecContext>
    /// The internal threads that libavcodec has started.
    private var threads: ProcessorAccount.AdoptedThreads?
    /// Whether a packet that cannot be decoded without a fault is decoded again, as far as it goes.
    private let showsFaulty: Bool
    /// Whether the next picture is of such a packet.
    private var isNextFaulty = false
    /// An empty `AVFrame` for the next picture; kept if there was no picture.
    private var shell: UnsafeMutablePointer<AVFrame>?

    /// The result of ``receive()``.
    package enum Output {
        case frame(FFmpegFrame)
        /// Another packet must be sent first.
        case needsInput
        /// All pictures of the packets sent before ``sendEnd()`` were returned.
        case ended
        /// A packet could not be decoded, with the AVERROR code; the next call continues after it.
        case undecodable(Int32)
    }

    package struct Options: Sendable {
        /// The number of decoding threads; 0 lets libavcodec choose by the number of cores. The default is 0.
        package var threads = 0
        /// The most pixels; larger pictures are refused before memory is allocated for them.
        package var maximumPixels = 8192 * 8192
        /// The average rate of the stream, from which some decoders derive durations.
        package var frameRate: AVRational?
        /// Whether a picture is returned as soon as its packet is sent: threads share a picture instead of holding one
        /// each. The default is false.
        package var isLowDelay = false
        /// Whether pictures that the decoder knows to be incomplete are returned, too. The default is false.
        package var showsDamaged = false

        package init() {}
    }

    /// Opens libavcodec's preferred decoder for the stream.
    ///
    /// - Parameters:
    ///   - parameters: the stream's; copied.
    ///   - timeBase: the time base of the packets that will be sent, and of the frames that are returned.
    /// - Throws: ``InletError/Code/unsupported`` if libavcodec has no such decoder; the error of opening it.
    @unsafe package init(
        _ parameters: UnsafePointer<AVCodecParameters>, timeBase: AVRational, options: Options = Options()
    ) throws(InletError) {
        guard let codec = unsafe avcodec_find_decoder(parameters.pointee.codec_id) else {
            let name = unsafe String(cString: avcodec_get_name(parameters.pointee.codec_id))
            throw InletError(
                .unsupported, "The installed libavcodec has no decoder for \(name). Try a fuller build of FFmpeg.",
                context: .init(operation: "avcodec_find_decoder", nativeCode: inlet_averror_decoder_not_found))
        }
        guard let context = unsafe avcodec_alloc_context3(codec) else {
            throw InletError(ffmpeg: -ENOMEM, operation: "avcodec_alloc_context3")
        }
        unsafe self.context = context
        let codecID = unsafe parameters.pointee.codec_id
        let isJPEG = codecID == AV_CODEC_ID_MJPEG || codecID == AV_CODEC_ID_MJPEGB
        showsFaulty = isJPEG && options.showsDamaged
        try check(unsafe avcodec_parameters_to_context(context, parameters), "avcodec_parameters_to_context")
        unsafe context.pointee.pkt_timebase = timeBase
        unsafe context.pointee.thread_count = Int32(clamping: options.threads)
        unsafe context.pointee.max_pixels = Int64(options.maximumPixels)
        if options.isLowDelay {
            unsafe context.pointee.thread_type = FF_THREAD_SLICE
            // The decoders of MPEG-1, MPEG-2 and MPEG-4 return pictures in the order of decoding then. Without the flag
            // they do what the stream states.
            if ![AV_CODEC_ID_MPEG1VIDEO, AV_CODEC_ID_MPEG2VIDEO, AV_CODEC_ID_MPEG4].contains(codecID) {
                unsafe context.pointee.flags |= AV_CODEC_FLAG_LOW_DELAY
            }
        }
        if options.showsDamaged { unsafe context.pointee.flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT }
        // Otherwise the decoder returns a JPEG that is cut off or invalid like a whole picture. Decoders of H.264 and
        // MPEG conceal faults, too, but mark the picture.
        if isJPEG { unsafe context.pointee.err_recognition |= AV_EF_EXPLODE }
        if showsFaulty { unsafe context.pointee.thread_type &= ~FF_THREAD_FRAME }
        if let rate = options.frameRate { unsafe context.pointee.framerate = rate }
        let (code, threads) = ProcessorAccount.adoptingThreads { unsafe avcodec_open2(context, codec, nil) }
        self.threads = threads
        try check(code, "avcodec_open2")
    }

    deinit {
        threads?.release()
        unsafe av_frame_free(&shell)
        var context: UnsafeMutablePointer<AVCodecContext>? = unsafe self.context
        unsafe avcodec_free_context(&context)
    }

    /// The number of frames by which decoding order may run ahead of presentation order, as far as known.
    package var reorderDepth: Int { unsafe Int(context.pointee.has_b_frames) }

    /// Whether pictures to which no other refers are skipped: AVDISCARD_NONREF. The default is false.
    package var skipsNonReferencePictures: Bool {
        get { unsafe context.pointee.skip_frame == AVDISCARD_NONREF }
        set { unsafe context.pointee.skip_frame = newValue ? AVDISCARD_NONREF : AVDISCARD_DEFAULT }
    }

    /// Sends a packet. Call ``receive()`` until it asks for input before sending the next one.
    ///
    /// - Returns: 0, or the AVERROR code if the packet cannot be decoded.
    package func send(_ packet: FFmpegPacket) -> Int32 {
        isNextFaulty = false
        let code = unsafe avcodec_send_packet(context, packet.pointer)
        guard showsFaulty, code < 0, ![inlet_averror_eagain, inlet_averror_eof, -ENOMEM].contains(code) else {
            return code
        }
        // The state of the first attempt can make the second one fail. libavcodec reads the setting for each packet.
        unsafe avcodec_flush_buffers(context)
        unsafe context.pointee.err_recognition &= ~AV_EF_EXPLODE
        defer { unsafe context.pointee.err_recognition |= AV_EF_EXPLODE }
        isNextFaulty = unsafe avcodec_send_packet(context, packet.pointer) >= 0
        return isNextFaulty ? 0 : code
    }

    /// Tells the decoder that no packets follow, so that it returns the pictures it still holds back.
    package func sendEnd() { _ = unsafe avcodec_send_packet(context, nil) }

    /// Discards all pictures and the end, to restart at another place of the stream.
    package func flush() {
        unsafe avcodec_flush_buffers(context)
        isNextFaulty = false
    }

    /// Returns the next picture, if there is one.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` if there is no memory.
    package func receive() throws(InletError) -> Output {
        if unsafe shell == nil { unsafe shell = av_frame_alloc() }
        guard let frame = unsafe shell else { throw InletError(ffmpeg: -ENOMEM, operation: "av_frame_alloc") }
        switch unsafe avcodec_receive_frame(context, frame) {
        case 0:
            unsafe shell = nil
            if isNextFaulty { unsafe frame.pointee.flags |= AV_FRAME_FLAG_CORRUPT }
            isNextFaulty = false
            return unsafe .frame(FFmpegFrame(taking: frame))
        case inlet_averror_eagain: return .needsInput
        case inlet_averror_eof: return .ended
        case -ENOMEM: throw InletError(ffmpeg: -ENOMEM, operation: "avcodec_receive_frame")
        case let code: return .undecodable(code)
        }
    }

    private func check(_ code: Int32, _ operation: String) throws(InletError) {
        if code < 0 { throw InletError(ffmpeg: code, operation: operation) }
    }
}

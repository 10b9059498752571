import CFFmpeg
package import InletCore

// Unsafe: owns a libavcodec encoder and the frame that it encodes.
/// Owns libavcodec's JPEG encoder: one I420 picture in, the bytes of one baseline JPEG (4:2:0, JFIF) out.
///
/// A JPEG is BT.601 in full range. Such a picture is passed to the encoder in place; one in limited range or with
/// another matrix is first converted, in memory that is kept, so that every reader shows its colours. Nothing of the
/// picture is kept after a call.
///
/// Confined to one thread; libavcodec starts none. The encoder is opened at the first picture and reopened when the
/// size changes.
@safe package final class JPEGEncoder {
    /// libavcodec's quantisation scale, from 1, the finest, to 31.
    private let scale: Int32
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var frame: UnsafeMutablePointer<AVFrame>?
    private var packet: FFmpegPacket?
    private let pool = I420BufferPool(capacity: 1)

    /// - Parameter quality: 1 to 100; others are clamped. libavcodec's quantisation table is scaled as libjpeg scales
    ///   its own: by 50 / quality below 50, by 2 - quality / 50 above, so that 50 is a scale of 8, 75 of 4 and 90 of 2.
    ///   It has 31 steps: 94 and above are the finest, 12 and below the coarsest. The default is 90.
    package init(quality: Int = 90) { scale = Self.scale(quality: quality) }

    deinit { close() }

    static func scale(quality: Int) -> Int32 {
        let quality = Double(max(1, min(100, quality)))
        let factor = quality < 50 ? 50 / quality : 2 - quality / 50
        return Int32(max(1, min(31, (8 * factor).rounded())))
    }

    /// Encodes a picture and calls `body` with the JPEG, which is valid during the call.
    ///
    /// - Parameter colorSpace: the picture's. Unspecified parts are what players assume: limited range, BT.709 in high
    ///   definition, else BT.601.
    /// - Throws: ``InletError/Code/unsupported`` if libavcodec was built without the encoder;
    ///   ``InletError/Code/resourceExhausted`` if there is no memory; what `body` throws.
    package func encode<Value>(
        _ picture: I420Buffer, colorSpace: ColorSpace, _ body: (RawSpan) throws(InletError) -> Value
    ) throws(InletError) -> Value {
        let known = colorSpace.assumed(for: picture.size)
        guard let colors = BT601Colors(of: .full, from: known) else { return try encodeFull(picture, body) }
        var draft = try pool.makeBuffer(size: picture.size)
        colors.convert(picture, into: &draft)
        return try encodeFull(draft.publish(), body)
    }

    private func encodeFull<Value>(
        _ picture: I420Buffer, _ body: (RawSpan) throws(InletError) -> Value
    ) throws(InletError) -> Value {
        let context = unsafe try open(picture.size)
        if self.packet == nil { self.packet = try FFmpegPacket() }
        guard let packet = self.packet else { throw InletError(ffmpeg: -ENOMEM, operation: "av_packet_alloc") }
        defer { packet.unref() }
        do {
            let frame = unsafe try wrap(picture)
            defer { unsafe av_frame_unref(frame) }
            try check(unsafe avcodec_send_frame(context, frame), "avcodec_send_frame")
        }
        try check(unsafe avcodec_receive_packet(context, packet.pointer), "avcodec_receive_packet")
        return unsafe try body(
            UnsafeRawBufferPointer(start: packet.pointer.pointee.data, count: packet.byteCount).bytes)
    }

    @unsafe private func open(_ size: ImageSize) throws(InletError) -> UnsafeMutablePointer<AVCodecContext> {
        if let context = unsafe context, unsafe Int(context.pointee.width) == size.width,
            unsafe Int(context.pointee.height) == size.height
        {
            return unsafe context
        }
        close()
        FFmpegLogging.install()
        guard let codec = unsafe avcodec_find_encoder(AV_CODEC_ID_MJPEG) else {
            throw InletError(ffmpeg: inlet_averror_encoder_not_found, operation: "avcodec_find_encoder")
        }
        unsafe context = avcodec_alloc_context3(codec)
        guard let context = unsafe context else {
            throw InletError(ffmpeg: -ENOMEM, operation: "avcodec_alloc_context3")
        }
        unsafe context.pointee.width = Int32(size.width)
        unsafe context.pointee.height = Int32(size.height)
        unsafe context.pointee.pix_fmt = AV_PIX_FMT_YUV420P
        unsafe context.pointee.color_range = AVCOL_RANGE_JPEG
        // A picture has no rate, but libavcodec requires one.
        unsafe context.pointee.time_base = AVRational(num: 1, den: 25)
        // With a pixel aspect ratio it writes JFIF's header, which is what states BT.601.
        unsafe context.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
        // More threads would split the picture or hold pictures back.
        unsafe context.pointee.thread_count = 1
        // Otherwise the bytes differ between versions: a comment names the version.
        unsafe context.pointee.flags |= AV_CODEC_FLAG_QSCALE | AV_CODEC_FLAG_BITEXACT
        unsafe context.pointee.qmin = 1
        unsafe context.pointee.qmax = 31
        unsafe context.pointee.mb_lmin = FF_QP2LAMBDA
        unsafe context.pointee.mb_lmax = 31 * FF_QP2LAMBDA
        unsafe context.pointee.global_quality = scale * FF_QP2LAMBDA
        var options: OpaquePointer?
        defer { unsafe av_dict_free(&options) }
        // Tables made for each picture take a second pass, and some readers of MJPEG support only the standard's.
        unsafe av_dict_set(&options, "huffman", "default", 0)
        let code = unsafe avcodec_open2(context, codec, &options)
        if code < 0 { close() }
        try check(code, "avcodec_open2")
        return unsafe context
    }

    /// Returns a frame whose planes are the picture's own, which it keeps as long as libavcodec needs it.
    @unsafe private func wrap(_ picture: I420Buffer) throws(InletError) -> UnsafeMutablePointer<AVFrame> {
        if unsafe frame == nil { unsafe frame = av_frame_alloc() }
        guard let frame = unsafe frame else { throw InletError(ffmpeg: -ENOMEM, operation: "av_frame_alloc") }
        let planes = unsafe (
            UnsafeMutablePointer(mutating: picture.baseAddress(of: .y)),
            UnsafeMutablePointer(mutating: picture.baseAddress(of: .u)),
            UnsafeMutablePointer(mutating: picture.baseAddress(of: .v))
        )
        let owner = unsafe Unmanaged.passRetained(picture)
        // libavcodec requires only that the buffer keeps the memory; one buffer serves all three planes.
        let buffer = unsafe av_buffer_create(
            planes.0, picture.bytes(of: .y).count,
            { owner, _ in unsafe owner.map { unsafe Unmanaged<I420Buffer>.fromOpaque($0).release() } },
            owner.toOpaque(), AV_BUFFER_FLAG_READONLY)
        guard let buffer = unsafe buffer else {
            unsafe owner.release()
            throw InletError(ffmpeg: -ENOMEM, operation: "av_buffer_create")
        }
        unsafe frame.pointee.buf.0 = buffer
        unsafe frame.pointee.data.0 = planes.0
        unsafe frame.pointee.data.1 = planes.1
        unsafe frame.pointee.data.2 = planes.2
        unsafe frame.pointee.linesize.0 = Int32(clamping: picture.strides.y)
        unsafe frame.pointee.linesize.1 = Int32(clamping: picture.strides.u)
        unsafe frame.pointee.linesize.2 = Int32(clamping: picture.strides.v)
        unsafe frame.pointee.width = Int32(picture.size.width)
        unsafe frame.pointee.height = Int32(picture.size.height)
        unsafe frame.pointee.format = AV_PIX_FMT_YUV420P.rawValue
        unsafe frame.pointee.color_range = AVCOL_RANGE_JPEG
        unsafe frame.pointee.quality = scale * FF_QP2LAMBDA
        return unsafe frame
    }

    private func close() {
        unsafe av_frame_free(&frame)
        unsafe avcodec_free_context(&context)
    }

    private func check(_ code: Int32, _ operation: String) throws(InletError) {
        if code < 0 { throw InletError(ffmpeg: code, operation: operation) }
    }
}

import CFFmpeg
package import InletCore

// Unsafe: owns a libavcodec encoder and the frames of its conversion.
/// Owns libavcodec's PNG encoder and a libswscale context: one I420 picture in, the bytes of one RGB PNG out.
///
/// The picture is copied before it is converted, as libswscale reads past the end of planes: for a still the cost does
/// not matter.
///
/// Confined to one thread; libavcodec starts none. Both are opened at the first picture and reopened when the size
/// changes.
@safe package final class PNGEncoder {
    private let compression: Int32
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var scaler: OpaquePointer?
    private var source: UnsafeMutablePointer<AVFrame>?
    private var target: UnsafeMutablePointer<AVFrame>?
    private var packet: FFmpegPacket?

    /// - Parameter compression: zlib's level, from 0, none, to 9; others are clamped. The default is 6.
    package init(compression: Int = 6) { self.compression = Int32(max(0, min(9, compression))) }

    deinit { close() }

    /// Encodes a picture and calls `body` with the PNG, which is valid during the call.
    ///
    /// - Parameter colorSpace: the picture's. Unspecified parts are what players assume: limited range, BT.709 in high
    ///   definition, else BT.601.
    /// - Throws: ``InletError/Code/unsupported`` if libavcodec was built without the encoder;
    ///   ``InletError/Code/resourceExhausted`` if there is no memory; what `body` throws.
    package func encode<Value>(
        _ picture: I420Buffer, colorSpace: ColorSpace, _ body: (RawSpan) throws(InletError) -> Value
    ) throws(InletError) -> Value {
        try open(picture.size)
        guard let context = unsafe context, let scaler = unsafe scaler, let source = unsafe source,
            let target = unsafe target, let packet
        else { throw InletError(ffmpeg: -ENOMEM, operation: "av_frame_alloc") }
        defer { packet.unref() }
        let known = colorSpace.assumed(for: picture.size)
        let matrix = unsafe sws_getCoefficients(Self.coefficients(known.matrix))
        let one: Int32 = 1 << 16
        try check(
            unsafe sws_setColorspaceDetails(
                scaler, matrix, known.range == .full ? 1 : 0, matrix, 1, 0, one, one), "sws_setColorspaceDetails")
        unsafe copy(picture, into: source)
        try check(unsafe sws_scale_frame(scaler, target, source), "sws_scale_frame")
        try check(unsafe avcodec_send_frame(context, target), "avcodec_send_frame")
        try check(unsafe avcodec_receive_packet(context, packet.pointer), "avcodec_receive_packet")
        return unsafe try body(
            UnsafeRawBufferPointer(start: packet.pointer.pointee.data, count: packet.byteCount).bytes)
    }

    /// Returns libswscale's number for a matrix.
    private static func coefficients(_ matrix: ColorMatrix) -> Int32 {
        switch matrix {
        case .bt709: SWS_CS_ITU709
        case .fcc: SWS_CS_FCC
        case .smpte240m: SWS_CS_SMPTE240M
        case .bt2020: SWS_CS_BT2020
        default: SWS_CS_ITU601
        }
    }

    private func open(_ size: ImageSize) throws(InletError) {
        if let context = unsafe context, unsafe Int(context.pointee.width) == size.width,
            unsafe Int(context.pointee.height) == size.height
        {
            return
        }
        close()
        FFmpegLogging.install()
        guard let codec = unsafe avcodec_find_encoder(AV_CODEC_ID_PNG) else {
            throw InletError(ffmpeg: inlet_averror_encoder_not_found, operation: "avcodec_find_encoder")
        }
        guard let context = unsafe avcodec_alloc_context3(codec) else {
            throw InletError(ffmpeg: -ENOMEM, operation: "avcodec_alloc_context3")
        }
        do throws(InletError) {
            unsafe context.pointee.width = Int32(size.width)
            unsafe context.pointee.height = Int32(size.height)
            unsafe context.pointee.pix_fmt = AV_PIX_FMT_RGB24
            unsafe context.pointee.time_base = AVRational(num: 1, den: 25)
            unsafe context.pointee.thread_count = 1
            unsafe context.pointee.compression_level = compression
            // Rows are coded as differences to their neighbours, without which photographs hardly shrink.
            try check(unsafe av_opt_set(context.pointee.priv_data, "pred", "paeth", 0), "av_opt_set")
            try check(unsafe avcodec_open2(context, codec, nil), "avcodec_open2")
            packet = try FFmpegPacket()
            unsafe source = try Self.frame(size, AV_PIX_FMT_YUV420P)
            unsafe target = try Self.frame(size, AV_PIX_FMT_RGB24)
        } catch {
            unsafe self.context = context
            close()
            throw error
        }
        let flags = SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT
        let (width, height) = (Int32(size.width), Int32(size.height))
        unsafe scaler = sws_getContext(
            width, height, AV_PIX_FMT_YUV420P, width, height, AV_PIX_FMT_RGB24, flags, nil, nil, nil)
        unsafe self.context = context
        guard unsafe scaler != nil else {
            close()
            throw InletError(.unsupported, "libswscale cannot convert pictures of \(size) to RGB. Choose another size.")
        }
    }

    /// Returns a frame with its own memory, padded for libswscale.
    @unsafe private static func frame(
        _ size: ImageSize, _ format: AVPixelFormat
    ) throws(InletError) -> UnsafeMutablePointer<AVFrame> {
        guard let frame = unsafe av_frame_alloc() else {
            throw InletError(ffmpeg: -ENOMEM, operation: "av_frame_alloc")
        }
        unsafe frame.pointee.width = Int32(size.width)
        unsafe frame.pointee.height = Int32(size.height)
        unsafe frame.pointee.format = format.rawValue
        let code = unsafe av_frame_get_buffer(frame, 64)
        guard code >= 0 else {
            var frame: UnsafeMutablePointer<AVFrame>? = unsafe frame
            unsafe av_frame_free(&frame)
            throw InletError(ffmpeg: code, operation: "av_frame_get_buffer")
        }
        return unsafe frame
    }

    @unsafe private func copy(_ picture: I420Buffer, into frame: UnsafeMutablePointer<AVFrame>) {
        let targets = unsafe [frame.pointee.data.0, frame.pointee.data.1, frame.pointee.data.2]
        let strides = unsafe [frame.pointee.linesize.0, frame.pointee.linesize.1, frame.pointee.linesize.2]
        for plane in I420Buffer.Plane.allCases {
            let rows = I420Buffer.rows(of: plane, in: picture.size)
            unsafe av_image_copy_plane(
                targets[plane.rawValue], strides[plane.rawValue], picture.baseAddress(of: plane),
                Int32(clamping: picture.strides[plane]), Int32(rows.width), Int32(rows.height))
        }
    }

    private func close() {
        unsafe av_frame_free(&source)
        unsafe av_frame_free(&target)
        unsafe sws_freeContext(scaler)
        unsafe scaler = nil
        unsafe avcodec_free_context(&context)
    }

    private func check(_ code: Int32, _ operation: String) throws(InletError) {
        if code < 0 { throw InletError(ffmpeg: code, operation: operation) }
    }
}

import CFFmpeg
package import InletCore
import InletSystem

// Unsafe: owns a libavcodec encoder.
/// Owns a libavcodec encoder: I420 pictures in, packets out, in decoding order.
///
/// Confined to one thread; libavcodec may run internal threads. Packets outlive the encoder.
@safe package final class FFmpegEncoder {
    private let context: UnsafeMutablePointer<AVCodecContext>
    private let frame: UnsafeMutablePointer<AVFrame>
    private let packet: FFmpegPacket
    /// The internal threads that libavcodec has started.
    private var threads: ProcessorAccount.AdoptedThreads?
    /// Converts colours to those of the encoder's pictures; nil if they are the same.
    private var colors: BT601Colors?
    private let pool = I420BufferPool(capacity: 4)
    /// The order of fields, as `inlet_frame_set_fields` takes it.
    private var fields: Int32 = 0
    private var limitsBitrate = true
    private var bufferSeconds = 1.0

    package struct Options: Sendable {
        /// The name of libavcodec's encoder, such as `libx264`.
        package var encoder: String
        package var size: ImageSize
        package var timeBase: Rational
        package var frameRate: Rational
        package var colorSpace = ColorSpace.unspecified
        package var sampleAspectRatio: Rational?
        /// The bit rate, in bits a second; nil if a quality decides.
        package var bitrate: Int?
        /// Whether the bit rate is a ceiling as well as the mean. The default is true.
        package var limitsBitrate = true
        /// The number of seconds of the bit rate that a picture may borrow from its neighbours, if the rate is a
        /// ceiling. The default, a second, keeps the mean close without starving key frames.
        package var bufferSeconds = 1.0
        /// The quantizer for encoders that support only libavcodec's scale, 1 the best.
        package var quantizer: Int?
        /// The number of pictures from one key frame to the next.
        package var keyFrameDistance = 60
        package var threads = 0
        package var maximumBFrames: Int?
        /// The ticks that libvpx assumes a picture to last.
        package var ticksPerFrame: Int?
        /// The encoder's own options, by name.
        package var own: [(String, String)] = []
        /// The range of BT.601 to which other colours are converted, because the codec cannot state them, or players
        /// ignore them; nil, the default, keeps the colours.
        package var onlyRange: ColorRange?
        /// How the rows of the pictures were taken. Other values than the default, ``FieldOrder/progressive``, are for
        /// encoders that know interlaced pictures.
        package var fieldOrder = FieldOrder.progressive

        package init(encoder: String, size: ImageSize, timeBase: Rational, frameRate: Rational) {
            self.encoder = encoder
            self.size = size
            self.timeBase = timeBase
            self.frameRate = frameRate
        }
    }

    /// Whether libavcodec was built with the encoder.
    package static func exists(_ name: String) -> Bool { unsafe avcodec_find_encoder_by_name(name) != nil }

    /// - Throws: ``InletError/Code/unsupported`` if libavcodec has no such encoder; the error of opening it.
    package init(_ options: Options) throws(InletError) {
        guard let codec = unsafe avcodec_find_encoder_by_name(options.encoder) else {
            throw InletError(
                .unsupported,
                "The installed libavcodec has no encoder \(options.encoder). Try a fuller build of FFmpeg.",
                context: .init(operation: "avcodec_find_encoder", nativeCode: inlet_averror_encoder_not_found))
        }
        packet = try FFmpegPacket()
        guard let frame = unsafe av_frame_alloc() else {
            throw InletError(ffmpeg: -ENOMEM, operation: "av_frame_alloc")
        }
        guard let context = unsafe avcodec_alloc_context3(codec) else {
            var frame: UnsafeMutablePointer<AVFrame>? = unsafe frame
            unsafe av_frame_free(&frame)
            throw InletError(ffmpeg: -ENOMEM, operation: "avcodec_alloc_context3")
        }
        unsafe self.frame = frame
        unsafe self.context = context
        configure(options)
        var own: OpaquePointer?
        for (name, value) in options.own { unsafe av_dict_set(&own, name, value, 0) }
        let (code, threads) = ProcessorAccount.adoptingThreads { unsafe avcodec_open2(context, codec, &own) }
        self.threads = threads
        unsafe av_dict_free(&own)
        guard code >= 0 else { throw InletError(ffmpeg: code, operation: "avcodec_open2") }
    }

    private func configure(_ options: Options) {
        let known = options.colorSpace.assumed(for: options.size)
        colors = options.onlyRange.flatMap { BT601Colors(of: $0, from: known) }
        let color = colors?.colorSpace ?? (options.onlyRange == nil ? options.colorSpace : known)
        colorSpace = color
        unsafe context.pointee.width = Int32(clamping: options.size.width)
        unsafe context.pointee.height = Int32(clamping: options.size.height)
        unsafe context.pointee.pix_fmt = options.onlyRange == .full ? AV_PIX_FMT_YUVJ420P : AV_PIX_FMT_YUV420P
        unsafe context.pointee.time_base = AVRational(options.timeBase)
        unsafe context.pointee.framerate = AVRational(options.frameRate)
        if let ratio = options.sampleAspectRatio { unsafe context.pointee.sample_aspect_ratio = AVRational(ratio) }
        unsafe context.pointee.color_range = AVColorRange(color.range)
        unsafe context.pointee.colorspace = AVColorSpace(UInt32(color.matrix.rawValue))
        unsafe context.pointee.color_primaries = AVColorPrimaries(UInt32(color.primaries.rawValue))
        unsafe context.pointee.color_trc = AVColorTransferCharacteristic(UInt32(color.transfer.rawValue))
        unsafe context.pointee.gop_size = Int32(clamping: options.keyFrameDistance)
        unsafe context.pointee.thread_count = Int32(clamping: options.threads)
        // Threads that encode one picture each hold pictures back.
        unsafe context.pointee.thread_type = FF_THREAD_SLICE
        // Packets that any container accepts; outputs that need the parameter sets in the stream insert them.
        unsafe context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        if let most = options.maximumBFrames { unsafe context.pointee.max_b_frames = Int32(clamping: most) }
        if let ticks = options.ticksPerFrame { unsafe context.pointee.ticks_per_frame = Int32(clamping: max(1, ticks)) }
        fields =
            switch options.fieldOrder {
            case .progressive: 0
            case .topFirst: 1
            case .bottomFirst: 2
            }
        if fields != 0 {
            unsafe context.pointee.flags |= AV_CODEC_FLAG_INTERLACED_DCT | AV_CODEC_FLAG_INTERLACED_ME
            unsafe context.pointee.field_order = fields == 1 ? AV_FIELD_TT : AV_FIELD_BB
        }
        limitsBitrate = options.limitsBitrate
        bufferSeconds = options.bufferSeconds
        if let bitrate = options.bitrate { setBitrate(bitrate) }
        if let quantizer = options.quantizer {
            unsafe context.pointee.flags |= AV_CODEC_FLAG_QSCALE
            unsafe context.pointee.global_quality = FF_QP2LAMBDA * Int32(clamping: quantizer)
        }
    }

    private func setBitrate(_ bitrate: Int) {
        unsafe context.pointee.bit_rate = Int64(bitrate)
        guard limitsBitrate else { return }
        unsafe context.pointee.rc_max_rate = Int64(bitrate)
        unsafe context.pointee.rc_buffer_size = Int32(clamping: Int64(Double(bitrate) * bufferSeconds))
    }

    deinit {
        threads?.release()
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe self.frame
        unsafe av_frame_free(&frame)
        var context: UnsafeMutablePointer<AVCodecContext>? = unsafe self.context
        unsafe avcodec_free_context(&context)
    }

    /// The encoder's extra data, such as parameter sets. Known once the encoder is open.
    package var extraData: [UInt8] {
        guard let data = unsafe context.pointee.extradata else { return [] }
        return unsafe [UInt8](
            UnsafeBufferPointer(start: data, count: max(0, Int(context.pointee.extradata_size))))
    }
    /// The colours of the encoded pictures.
    package private(set) var colorSpace = ColorSpace.unspecified
    package var profile: Int? { unsafe context.pointee.profile >= 0 ? Int(context.pointee.profile) : nil }
    package var level: Int? { unsafe context.pointee.level >= 0 ? Int(context.pointee.level) : nil }

    /// Changes the bit rate, for an encoder that reads it before each picture.
    package func change(bitrate: Int) { setBitrate(bitrate) }

    /// Sends a picture of the size that the encoder was opened with, or a larger one, of which the upper left part is
    /// encoded. The encoder reads it in place.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for a smaller picture; the encoder's errors.
    package func send(_ picture: I420Buffer, pts: Int64, isKey: Bool) throws(InletError) {
        let size = unsafe ImageSize(width: Int(context.pointee.width), height: Int(context.pointee.height))
        guard size.fits(in: picture.size) else {
            throw InletError(
                .invalidConfiguration,
                "The encoder was opened for \(size). Open another one for a picture of \(picture.size).")
        }
        unsafe av_frame_unref(frame)
        unsafe frame.pointee.format = context.pointee.pix_fmt.rawValue
        unsafe frame.pointee.width = context.pointee.width
        unsafe frame.pointee.height = context.pointee.height
        unsafe frame.pointee.color_range = context.pointee.color_range
        unsafe frame.pointee.colorspace = context.pointee.colorspace
        unsafe frame.pointee.color_primaries = context.pointee.color_primaries
        unsafe frame.pointee.color_trc = context.pointee.color_trc
        unsafe frame.pointee.sample_aspect_ratio = context.pointee.sample_aspect_ratio
        unsafe inlet_frame_set_fields(frame, fields)
        unsafe frame.pointee.pts = pts
        unsafe frame.pointee.pict_type = isKey ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
        let lent = try colors.map { colors throws(InletError) in try converted(picture, colors) } ?? picture
        unsafe try lend(lent)
        let code = unsafe avcodec_send_frame(context, frame)
        unsafe av_frame_unref(frame)
        if code < 0 { throw InletError(ffmpeg: code, operation: "avcodec_send_frame") }
    }

    private func converted(_ picture: I420Buffer, _ colors: BT601Colors) throws(InletError) -> I420Buffer {
        var draft = try pool.makeBuffer(size: picture.size)
        colors.convert(picture, into: &draft)
        return draft.publish()
    }

    @unsafe private func lend(_ picture: I420Buffer) throws(InletError) {
        let y = unsafe picture.baseAddress(of: .y)
        let count = picture.strides.y * (picture.size.height - 1) + picture.size.width
        guard
            let buffer = unsafe BufferOwnership.buffer(UnsafeRawBufferPointer(start: y, count: count), owner: picture)
        else { throw InletError(ffmpeg: -ENOMEM, operation: "av_buffer_create") }
        unsafe frame.pointee.buf.0 = buffer
        unsafe frame.pointee.data.0 = UnsafeMutablePointer(mutating: y)
        unsafe frame.pointee.data.1 = UnsafeMutablePointer(mutating: picture.baseAddress(of: .u))
        unsafe frame.pointee.data.2 = UnsafeMutablePointer(mutating: picture.baseAddress(of: .v))
        unsafe frame.pointee.linesize.0 = Int32(clamping: picture.strides.y)
        unsafe frame.pointee.linesize.1 = Int32(clamping: picture.strides.u)
        unsafe frame.pointee.linesize.2 = Int32(clamping: picture.strides.v)
    }

    /// Tells the encoder that no pictures follow, so that it returns the packets it still holds back.
    package func sendEnd() { _ = unsafe avcodec_send_frame(context, nil) }

    /// Returns the next packet, valid until the next call; nil if the encoder needs the next picture first or is at its
    /// end.
    ///
    /// - Throws: the encoder's errors.
    package func receive() throws(InletError) -> FFmpegPacket? {
        packet.unref()
        switch unsafe avcodec_receive_packet(context, packet.pointer) {
        case 0: return packet
        case inlet_averror_eagain, inlet_averror_eof: return nil
        case let code: throw InletError(ffmpeg: code, operation: "avcodec_receive_packet")
        }
    }
}

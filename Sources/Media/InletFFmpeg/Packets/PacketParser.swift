import CFFmpeg
package import InletCore

// Unsafe: owns a libavcodec parser.
/// Owns a libavcodec parser for one stream: finds the packets at which decoding can start if no container marks them.
///
/// Confined to one thread.
@safe package final class PacketParser {
    private let parser: UnsafeMutablePointer<AVCodecParserContext>
    private let context: UnsafeMutablePointer<AVCodecContext>

    /// - Returns: nil for a codec for which the installed libavcodec has no parser; no picture of such a codec refers
    ///   to others.
    package init?(_ codec: VideoCodec) {
        guard let description = unsafe avcodec_descriptor_get_by_name(codec.rawValue),
            let parser = unsafe av_parser_init(Int32(bitPattern: description.pointee.id.rawValue))
        else { return nil }
        guard let context = unsafe avcodec_alloc_context3(nil) else {
            unsafe av_parser_close(parser)
            return nil
        }
        unsafe context.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        unsafe context.pointee.codec_id = description.pointee.id
        unsafe parser.pointee.flags |= PARSER_FLAG_COMPLETE_FRAMES
        unsafe self.parser = parser
        unsafe self.context = context
    }

    deinit {
        unsafe av_parser_close(parser)
        var context: UnsafeMutablePointer<AVCodecContext>? = unsafe self.context
        unsafe avcodec_free_context(&context)
    }

    /// Returns whether decoding can start at the access unit. Every unit must be passed, in order.
    package func isKey(_ unit: FFmpegPacket) -> Bool {
        var output: UnsafeMutablePointer<UInt8>?
        var count: Int32 = 0
        unsafe av_parser_parse2(
            parser, context, &output, &count, unit.pointer.pointee.data, unit.pointer.pointee.size,
            inlet_av_nopts_value, inlet_av_nopts_value, 0)
        let isKey = unsafe parser.pointee.key_frame
        return unsafe isKey == 1 || isKey < 0 && parser.pointee.pict_type == Int32(AV_PICTURE_TYPE_I.rawValue)
    }
}

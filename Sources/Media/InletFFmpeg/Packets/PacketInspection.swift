import CFFmpeg
package import InletCore

// Unsafe: parses packets with libavcodec's parsers and filters.
/// Reads what a key frame's packet states about its stream, for streams whose container does not state the size.
package enum PacketInspection {
    /// Returns the parameters of a stream as a key frame's packet states them: the size of the pictures and the
    /// parameter sets.
    ///
    /// The sets are those that the container states with the packet, as FLV does after a change, or those that precede
    /// the picture. A packet that repeats the known sets, or some of them, changes nothing.
    ///
    /// - Parameter maximumPixels: as for ``size(in:_:maximumPixels:)``.
    package static func updated(
        _ parameters: CodecParameters, by packet: FFmpegPacket, maximumPixels: Int
    ) -> CodecParameters {
        var parameters = parameters
        let changed = changedSets(in: packet, parameters)
        if let changed { parameters.extraData = changed }
        if let size = size(in: packet, parameters, maximumPixels: maximumPixels), size != parameters.size {
            // The earlier parameter sets are for another size. A record of them stays: it states how packets are
            // divided, and sets in the packets replace those in it.
            let isRecord = ParameterSets(parameters)?.lengthSize != nil
            if parameters.size.isValid, changed == nil, !isRecord { parameters.extraData = [] }
            parameters.size = size
        }
        if parameters.extraData.isEmpty {
            parameters.extraData = parameterSets(in: packet, parameters.codec) ?? []
        }
        return parameters
    }

    /// Returns the parameter sets that hold from a key frame's packet on; nil if they are the known ones.
    static func changedSets(in packet: FFmpegPacket, _ parameters: CodecParameters) -> [UInt8]? {
        guard [.h264, .hevc].contains(parameters.codec) else { return nil }
        if let stated = packet.newExtraData { return stated == parameters.extraData ? nil : stated }
        guard let known = ParameterSets(parameters), known.lengthSize == nil,
            let data = try? EncodedPacketStorage(sharing: packet).data
        else { return nil }
        return known.changed(by: data)?.byteStream
    }

    /// Returns the size of the pictures; nil if the packet does not state it.
    ///
    /// - Parameter maximumPixels: no memory is allocated for larger pictures, and none of them is decoded to find its
    ///   size.
    package static func size(
        in packet: FFmpegPacket, _ parameters: CodecParameters, maximumPixels: Int
    ) -> ImageSize? {
        unsafe size(in: packet, parameters) { unsafe decodedSize(of: packet, $0, maximumPixels: maximumPixels) }
    }

    /// Returns the size that the packet's headers state; nil if the installed libavcodec does not read it from those.
    static func statedSize(in packet: FFmpegPacket, _ parameters: CodecParameters) -> ImageSize? {
        unsafe size(in: packet, parameters) { _ in nil }
    }

    /// - Parameter decode: called with a decoder's context if the headers do not state the size.
    private static func size(
        in packet: FFmpegPacket, _ parameters: CodecParameters,
        orElse decode: (UnsafeMutablePointer<AVCodecContext>) -> ImageSize?
    ) -> ImageSize? {
        if parameters.codec == .mjpeg {
            return packet.withBytes { JPEGHeader.size(in: $0) }.flatMap { $0.isValid ? $0 : nil }
        }
        guard let description = unsafe avcodec_descriptor_get_by_name(parameters.codec.rawValue),
            let parser = unsafe av_parser_init(Int32(bitPattern: description.pointee.id.rawValue))
        else { return nil }
        defer { unsafe av_parser_close(parser) }
        var context = unsafe avcodec_alloc_context3(nil)
        defer { unsafe avcodec_free_context(&context) }
        guard let codec = unsafe context, unsafe setExtraData(parameters.extraData, of: codec) else { return nil }
        unsafe codec.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        unsafe codec.pointee.codec_id = description.pointee.id
        unsafe parser.pointee.flags |= PARSER_FLAG_COMPLETE_FRAMES
        var output: UnsafeMutablePointer<UInt8>?
        var count: Int32 = 0
        _ = unsafe av_parser_parse2(
            parser, codec, &output, &count, packet.pointer.pointee.data, packet.pointer.pointee.size,
            inlet_av_nopts_value, inlet_av_nopts_value, 0)
        let size = unsafe ImageSize(width: Int(parser.pointee.width), height: Int(parser.pointee.height))
        return unsafe size.isValid ? size : decode(codec)
    }

    /// Returns the parameter sets that precede the picture, for streams whose container has none, such as MPEG-TS; nil
    /// if the packet has no parameter sets.
    package static func parameterSets(in packet: FFmpegPacket, _ codec: VideoCodec) -> [UInt8]? {
        guard let description = unsafe avcodec_descriptor_get_by_name(codec.rawValue),
            let filter = unsafe av_bsf_get_by_name("extract_extradata")
        else { return nil }
        var context: UnsafeMutablePointer<AVBSFContext>?
        defer { unsafe av_bsf_free(&context) }
        guard unsafe av_bsf_alloc(filter, &context) >= 0, let filtering = unsafe context,
            let parameters = unsafe filtering.pointee.par_in, let copy = try? FFmpegPacket()
        else { return nil }
        unsafe parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        unsafe parameters.pointee.codec_id = description.pointee.id
        var count = 0
        // Fails for a codec without parameter sets.
        guard unsafe av_bsf_init(filtering) >= 0, unsafe av_packet_ref(copy.pointer, packet.pointer) >= 0,
            unsafe av_bsf_send_packet(filtering, copy.pointer) >= 0,
            unsafe av_bsf_receive_packet(filtering, copy.pointer) >= 0,
            let bytes = unsafe av_packet_get_side_data(copy.pointer, AV_PKT_DATA_NEW_EXTRADATA, &count)
        else { return nil }
        return unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Returns the size of the decoded picture, for codecs whose parsers do not find it.
    private static func decodedSize(
        of packet: FFmpegPacket, _ codec: UnsafeMutablePointer<AVCodecContext>, maximumPixels: Int
    ) -> ImageSize? {
        guard let decoder = unsafe avcodec_find_decoder(codec.pointee.codec_id) else { return nil }
        unsafe codec.pointee.max_pixels = Int64(maximumPixels)
        unsafe codec.pointee.thread_count = 1
        guard unsafe avcodec_open2(codec, decoder, nil) >= 0, unsafe avcodec_send_packet(codec, packet.pointer) >= 0
        else {
            return nil
        }
        let size = unsafe ImageSize(width: Int(codec.pointee.width), height: Int(codec.pointee.height))
        return size.isValid ? size : nil
    }

    @unsafe private static func setExtraData(
        _ bytes: [UInt8], of context: UnsafeMutablePointer<AVCodecContext>
    ) -> Bool {
        guard !bytes.isEmpty else { return true }
        guard let memory = unsafe av_mallocz(bytes.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else { return false }
        unsafe bytes.withUnsafeBytes { source in
            if let base = source.baseAddress { unsafe memory.copyMemory(from: base, byteCount: source.count) }
        }
        unsafe context.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
        unsafe context.pointee.extradata_size = Int32(clamping: bytes.count)
        return true
    }
}

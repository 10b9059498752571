package import CFFmpeg
package import InletCore

// Unsafe: reads and writes libavcodec's parameters.
extension CodecParameters {
    /// How the pictures must be flipped and rotated.
    package var orientation: DisplayOrientation { DisplayOrientation(rotation: rotation, isMirrored: isMirrored) }

    /// Writes the parameters for libav*, except for those that belong to one container or only to decoders.
    ///
    /// - Throws: ``InletError/Code/unsupported`` if the installed libavcodec does not know the codec;
    ///   ``InletError/Code/resourceExhausted`` if there is no memory.
    @unsafe package func write(to codec: UnsafeMutablePointer<AVCodecParameters>) throws(InletError) {
        guard let description = unsafe avcodec_descriptor_get_by_name(self.codec.rawValue) else {
            throw InletError(
                .unsupported, "The installed libavcodec does not know \(self.codec). Try a fuller build of FFmpeg.",
                context: .init(operation: "avcodec_descriptor_get_by_name"))
        }
        unsafe codec.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        unsafe codec.pointee.codec_id = description.pointee.id
        unsafe codec.pointee.width = Int32(clamping: size.width)
        unsafe codec.pointee.height = Int32(clamping: size.height)
        unsafe codec.pointee.format = av_get_pix_fmt(pixelFormat.description).rawValue
        unsafe codec.pointee.bit_rate = Int64(bitrate ?? 0)
        if let profile { unsafe codec.pointee.profile = Int32(clamping: profile) }
        if let level { unsafe codec.pointee.level = Int32(clamping: level) }
        unsafe codec.pointee.color_range = AVColorRange(colorSpace.range)
        unsafe codec.pointee.color_space = AVColorSpace(UInt32(colorSpace.matrix.rawValue))
        unsafe codec.pointee.color_primaries = AVColorPrimaries(UInt32(colorSpace.primaries.rawValue))
        unsafe codec.pointee.color_trc = AVColorTransferCharacteristic(UInt32(colorSpace.transfer.rawValue))
        if let sampleAspectRatio { unsafe codec.pointee.sample_aspect_ratio = AVRational(sampleAspectRatio) }
        unsafe try writeExtraData(to: codec)
    }

    private func writeExtraData(to codec: UnsafeMutablePointer<AVCodecParameters>) throws(InletError) {
        guard !extraData.isEmpty else { return }
        guard let memory = unsafe av_mallocz(extraData.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else {
            throw InletError(ffmpeg: -ENOMEM, operation: "av_mallocz")
        }
        unsafe extraData.withUnsafeBytes {
            unsafe memory.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(memory), byteCount: $0.count)
        }
        unsafe codec.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
        unsafe codec.pointee.extradata_size = Int32(clamping: extraData.count)
    }
}

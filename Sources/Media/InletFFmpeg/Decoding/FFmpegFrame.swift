package import CFFmpeg
package import InletCore

// Unsafe: owns an `AVFrame` that nothing changes.
/// Owns one decoded `AVFrame` and so keeps its picture in the decoder's pool until the last reference is released.
///
/// Safe from any thread: nothing writes to the frame or its pixels after `init`, and its reference-counted buffers may
/// be freed on any thread.
@safe package final class FFmpegFrame: Sendable {
    // Written by the decoder before `init` only; freed once, in `deinit`.
    nonisolated(unsafe) private let frame: UnsafeMutablePointer<AVFrame>

    /// Takes over a decoded frame.
    ///
    /// - Parameter frame: a frame with its own references to its buffers. The object frees it.
    @unsafe package init(taking frame: UnsafeMutablePointer<AVFrame>) { unsafe self.frame = frame }

    deinit {
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe self.frame
        unsafe av_frame_free(&frame)
    }

    package var size: ImageSize {
        unsafe ImageSize(width: Int(frame.pointee.width), height: Int(frame.pointee.height))
    }
    /// The raw value of libavutil's `AVPixelFormat`.
    package var nativePixelFormat: AVPixelFormat { unsafe AVPixelFormat(frame.pointee.format) }
    /// The presentation time in ticks of the packets' time base: the frame's own, or what libavcodec derives from the
    /// times around it.
    package var bestEffortTimestamp: Int64? { unsafe Ticks.value(frame.pointee.best_effort_timestamp) }
    /// The duration in ticks of the packets' time base; nil if unknown.
    package var duration: Int64? {
        let duration = unsafe inlet_frame_duration(frame)
        return duration > 0 ? duration : nil
    }
    package var isKey: Bool { unsafe inlet_frame_is_key(frame) != 0 }
    /// Whether some of the picture was missing or wrong, and the decoder concealed it.
    package var isDamaged: Bool {
        unsafe frame.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 || frame.pointee.decode_error_flags != 0
    }
    package var sampleAspectRatio: Rational? { unsafe Rational(known: frame.pointee.sample_aspect_ratio) }
    package var colorSpace: ColorSpace {
        unsafe ColorSpace(
            primaries: frame.pointee.color_primaries, transfer: frame.pointee.color_trc,
            matrix: frame.pointee.colorspace, range: frame.pointee.color_range, pixelFormat: nativePixelFormat)
    }
    /// The position of the chroma samples.
    package var chromaLocation: AVChromaLocation { unsafe frame.pointee.chroma_location }
    /// The greatest luminance that the picture's metadata of high dynamic range states, in candela per square metre:
    /// that of the content, or else that of the display on which it was mastered; nil if it states neither.
    package var peakLuminance: Double? {
        if let data = unsafe av_frame_get_side_data(frame, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL),
            unsafe Int(data.pointee.size) >= MemoryLayout<AVContentLightMetadata>.size
        {
            let light = unsafe UnsafeRawPointer(data.pointee.data).loadUnaligned(as: AVContentLightMetadata.self)
            if light.MaxCLL > 0 { return Double(light.MaxCLL) }
        }
        guard let data = unsafe av_frame_get_side_data(frame, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA),
            unsafe Int(data.pointee.size) >= MemoryLayout<AVMasteringDisplayMetadata>.size
        else { return nil }
        let display = unsafe UnsafeRawPointer(data.pointee.data).loadUnaligned(as: AVMasteringDisplayMetadata.self)
        guard display.has_luminance != 0, let peak = Rational(known: display.max_luminance) else { return nil }
        return peak.doubleValue
    }
    package var fieldOrder: FieldOrder {
        switch unsafe inlet_frame_fields(frame) {
        case 1: .topFirst
        case 2: .bottomFirst
        default: .progressive
        }
    }
    /// The orientation that the picture itself states (an H.264 or HEVC display orientation message, EXIF); nil if it
    /// states none.
    package var orientation: DisplayOrientation? {
        guard let data = unsafe av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX) else { return nil }
        return unsafe DisplayOrientation(
            matrix: UnsafeRawBufferPointer(start: data.pointee.data, count: Int(data.pointee.size)))
    }

    /// The pixels: each plane with the whole buffer that contains it, so that nothing beyond can be read. Valid while
    /// this object lives.
    ///
    /// The second plane of a palette format such as `pal8` is the palette.
    ///
    /// - Parameter flipped: whether the bottom row is the first. A mosaic of colour filters is not flipped, as its rows
    ///   differ.
    package func planes(flipped: Bool = false) -> SourcePlanes {
        var planes = SourcePlanes()
        let layout = flipped ? unsafe av_pix_fmt_desc_get(nativePixelFormat) : nil
        let kind = unsafe Int32(truncatingIfNeeded: layout?.pointee.flags ?? 0)
        /// The rows of a plane that is flipped.
        func flippedRows(_ index: Int32) -> Int? {
            guard let layout = unsafe layout, kind & AV_PIX_FMT_FLAG_BAYER == 0 else { return nil }
            guard index == 1 || index == 2 else { return size.height }
            if kind & AV_PIX_FMT_FLAG_PAL != 0 { return nil }
            return unsafe -(-size.height >> Int(layout.pointee.log2_chroma_h))
        }
        let data = unsafe frame.pointee.data
        let strides = unsafe frame.pointee.linesize
        func add(_ index: Int32, _ pointer: UnsafeMutablePointer<UInt8>?, _ stride: Int32) -> Bool {
            guard let pointer = unsafe pointer, let buffer = unsafe av_frame_get_plane_buffer(frame, index) else {
                return false
            }
            let memory = unsafe UnsafeRawBufferPointer(start: buffer.pointee.data, count: Int(buffer.pointee.size))
            let top = unsafe UnsafePointer(pointer) - UnsafePointer(buffer.pointee.data)
            if let rows = flippedRows(index) {
                unsafe planes.append(
                    SourcePlane(memory, offset: top + (rows - 1) * Int(stride), stride: -Int(stride)))
            } else {
                unsafe planes.append(SourcePlane(memory, offset: top, stride: Int(stride)))
            }
            return true
        }
        _ =
            unsafe add(0, data.0, strides.0) && add(1, data.1, strides.1) && add(2, data.2, strides.2)
            && add(3, data.3, strides.3)
        return planes
    }
}

import CFFmpeg
import InletCore

// Unsafe: reads libavutil's table of pixel formats.
/// The facts about a pixel format that are needed to read its pictures safely, from libavutil and libswscale.
struct NativeFormat: Sendable {
    let pixelFormat: PixelFormat
    let avFormat: AVPixelFormat
    let samples: Samples
    /// The planes that a picture must have, including a palette.
    let planeCount: Int
    /// The plane that is a palette of 256 entries of 4 bytes, if there is one.
    let palettePlane: Int?
    /// The conversion; nil if nothing here can read the format.
    let conversion: Conversion?
    /// Whether samples take more than a byte.
    let hasWideSamples: Bool
    let isXYZ: Bool
    private let isMosaic: Bool
    private let log2ChromaHeight: Int

    /// The meaning of a picture's samples, which determines how its range and matrix change.
    enum Samples: Sendable {
        /// Luma and chroma: range and matrix do not change.
        case yuv
        /// Luma and chroma of full range by the format's name (`yuvj...`).
        case fullRangeYUV
        /// Luma only. It does not change, and has full range unless the frame states otherwise, as in FFmpeg.
        case gray
        /// One bit of luma, which becomes 0 or 255.
        case bilevel
        /// Red, green and blue in any form, including palettes and Bayer mosaics, or CIE XYZ: converted to BT.601 of
        /// limited range.
        case rgb
    }

    enum Conversion: Sendable {
        case direct(DirectConversion)
        case swscale
    }

    /// Every format that this libavutil knows.
    private static let byPixelFormat: [PixelFormat: NativeFormat] = {
        var formats: [PixelFormat: NativeFormat] = [:]
        var next = unsafe av_pix_fmt_desc_next(nil)
        while let descriptor = unsafe next {
            if let format = unsafe NativeFormat(descriptor) { formats[format.pixelFormat] = format }
            unsafe next = av_pix_fmt_desc_next(descriptor)
        }
        return formats
    }()

    /// - Throws: ``InletError/Code/unsupported`` for a name that libavutil does not know.
    static func named(_ pixelFormat: PixelFormat) throws(InletError) -> NativeFormat {
        guard let format = byPixelFormat[pixelFormat] else {
            throw InletError(
                .unsupported,
                "The pixel format \(pixelFormat) is unknown here. `ffmpeg -pix_fmts` lists the names that can be used.")
        }
        return format
    }

    private init?(_ descriptor: UnsafePointer<AVPixFmtDescriptor>) {
        let format = unsafe av_pix_fmt_desc_get_id(descriptor)
        guard let name = unsafe av_get_pix_fmt_name(format) else { return nil }
        let flags = unsafe Int32(truncatingIfNeeded: descriptor.pointee.flags)
        let isHardware = flags & AV_PIX_FMT_FLAG_HWACCEL != 0
        let hasPalette = flags & AV_PIX_FMT_FLAG_PAL != 0
        let colorPlanes = Int(max(0, av_pix_fmt_count_planes(format)))
        unsafe pixelFormat = PixelFormat(String(cString: name))
        avFormat = format
        planeCount = hasPalette ? 2 : colorPlanes
        palettePlane = hasPalette ? 1 : nil
        isXYZ = format == AV_PIX_FMT_XYZ12LE || format == AV_PIX_FMT_XYZ12BE
        isMosaic = flags & AV_PIX_FMT_FLAG_BAYER != 0
        hasWideSamples = unsafe descriptor.pointee.comp.0.depth > 8
        log2ChromaHeight = unsafe Int(descriptor.pointee.log2_chroma_h)
        if let direct = DirectConversion.byFormat[pixelFormat] {
            conversion = .direct(direct)
        } else {
            conversion = !isHardware && sws_isSupportedInput(format) > 0 ? .swscale : nil
        }
        switch format {
        case AV_PIX_FMT_MONOWHITE, AV_PIX_FMT_MONOBLACK: samples = .bilevel
        case _ where flags & AV_PIX_FMT_FLAG_RGB != 0 || isMosaic || isXYZ || hasPalette: samples = .rgb
        case _ where unsafe descriptor.pointee.nb_components <= 2: samples = .gray
        default: samples = pixelFormat.name.hasBytePrefix("yuvj") ? .fullRangeYUV : .yuv
        }
    }

    /// Returns how many rows a plane of a picture has, and how many bytes each.
    func extent(ofPlane plane: Int, in size: ImageSize) -> (rows: Int, rowBytes: Int) {
        if plane == palettePlane { return (1, 256 * 4) }
        let isChroma = plane == 1 || plane == 2
        let rows = isChroma ? -(-size.height >> log2ChromaHeight) : size.height
        return (rows, Int(av_image_get_linesize(avFormat, Int32(size.width), Int32(plane))))
    }

    /// Checks that every byte that a conversion may read exists.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for an impossible size; ``InletError/Code/malformedData`` for
    ///   a missing plane, or one that is shorter than its size and stride require.
    func check(_ frame: SourceFrame) throws(InletError) {
        guard frame.size.isValid else {
            throw InletError(.invalidConfiguration, "A picture of \(frame.size) pixels cannot exist.")
        }
        guard !isMosaic || (frame.size.width.isMultiple(of: 2) && frame.size.height.isMultiple(of: 2)) else {
            throw InletError(
                .unsupported, "A \(pixelFormat) mosaic consists of cells of 2x2 pixels; \(frame.size) cuts them apart.")
        }
        for index in 0..<planeCount {
            guard let plane = frame.planes[index] else {
                throw InletError(
                    .malformedData,
                    "A \(pixelFormat) picture has \(planeCount) planes; this one has only \(frame.planes.count).")
            }
            let (rows, rowBytes) = extent(ofPlane: index, in: frame.size)
            guard rowBytes > 0, Int32(exactly: plane.stride) != nil, plane.holds(rows: rows, of: rowBytes) else {
                throw InletError(
                    .malformedData,
                    """
                    Plane \(index) of a \(frame.size) \(pixelFormat) picture has \(plane.byteCount) bytes, a stride of \
                    \(plane.stride) and its top row at \(plane.offset); \(rows) rows of \(rowBytes) bytes do not fit.
                    """)
            }
        }
    }

    /// Returns a picture's colour space after the conversion to I420.
    func converted(_ native: ColorSpace) -> ColorSpace {
        var colorSpace = native
        switch samples {
        case .yuv: break
        case .gray: if colorSpace.range == .unspecified { colorSpace.range = .full }
        case .fullRangeYUV, .bilevel: colorSpace.range = .full
        case .rgb:
            colorSpace.matrix = .smpte170m
            colorSpace.range = .limited
        }
        return colorSpace
    }
}

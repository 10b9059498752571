import CFFmpeg
import InletCore
import InletFFmpeg

// Unsafe: describes the planes of checked pictures to libavfilter.
/// Owns an `AVFrame` with the pixels of a source's picture: the picture's own memory if libavfilter can read it,
/// otherwise a copy.
@safe final class FilterInput {
    let frame: UnsafeMutablePointer<AVFrame>

    /// The alignment of rows that the kernels of libavfilter and zimg assume.
    private static let alignment = 64
    /// The number of readable bytes that must follow a plane, because kernels read beyond the end of rows.
    private static let readAhead = 64

    /// The properties of a picture that determine a line of filters.
    struct Shape: Equatable {
        var pixelFormat: PixelFormat
        var size: ImageSize
        var colorSpace: ColorSpace
        var sampleAspectRatio: Rational?

        init(_ picture: SourceFrame) {
            (pixelFormat, size, colorSpace) = (picture.pixelFormat, picture.size, picture.colorSpace)
            sampleAspectRatio = picture.sampleAspectRatio
        }
    }

    /// - Throws: ``InletError/Code/unsupported`` for a pixel format that libavutil does not know or whose planes it
    ///   cannot describe; ``InletError/Code/malformedData`` for planes that are missing or too short;
    ///   ``InletError/Code/invalidConfiguration`` for an impossible size; ``InletError/Code/resourceExhausted`` if
    ///   there is no memory.
    init(_ picture: SourceFrame) throws(InletError) {
        guard let frame = unsafe av_frame_alloc() else {
            throw InletError(ffmpeg: -ENOMEM, operation: "av_frame_alloc")
        }
        unsafe self.frame = frame
        guard picture.size.isValid else {
            throw InletError(.invalidConfiguration, "Cannot filter a picture of \(picture.size) pixels.")
        }
        unsafe frame.pointee.format = av_get_pix_fmt(picture.pixelFormat.name).rawValue
        unsafe frame.pointee.width = Int32(picture.size.width)
        unsafe frame.pointee.height = Int32(picture.size.height)
        describe(picture)
        try fill(from: picture)
    }

    deinit {
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe self.frame
        unsafe av_frame_free(&frame)
    }

    /// Whether a pixel format has fewer chroma samples than luma samples.
    static func halvesChroma(_ pixelFormat: PixelFormat) -> Bool {
        guard let layout = unsafe av_pix_fmt_desc_get(av_get_pix_fmt(pixelFormat.name)) else { return false }
        return unsafe layout.pointee.log2_chroma_w > 0 || layout.pointee.log2_chroma_h > 0
    }

    /// Copies the picture's colour, pixel shape and field order to the `AVFrame`.
    private func describe(_ picture: SourceFrame) {
        let colors = picture.colorSpace.completed
        unsafe frame.pointee.color_primaries = AVColorPrimaries(UInt32(colors.primaries.rawValue))
        unsafe frame.pointee.color_trc = AVColorTransferCharacteristic(UInt32(colors.transfer.rawValue))
        unsafe frame.pointee.colorspace = AVColorSpace(UInt32(colors.matrix.rawValue))
        unsafe frame.pointee.color_range = AVColorRange(colors.range)
        if let decoded = picture.owner as? FFmpegFrame { unsafe frame.pointee.chroma_location = decoded.chromaLocation }
        if let ratio = picture.sampleAspectRatio { unsafe frame.pointee.sample_aspect_ratio = AVRational(ratio) }
        let fields: Int32 =
            switch picture.fieldOrder {
            case .progressive: 0
            case .topFirst: 1
            case .bottomFirst: 2
            }
        unsafe inlet_frame_set_fields(frame, fields)
    }

    private func fill(from picture: SourceFrame) throws(InletError) {
        let format = unsafe AVPixelFormat(frame.pointee.format)
        let planeCount = Int(av_pix_fmt_count_planes(format))
        guard planeCount > 0, let layout = unsafe av_pix_fmt_desc_get(format),
            unsafe layout.pointee.flags & UInt64(AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_HWACCEL) == 0
        else {
            throw InletError(.unsupported, "Cannot filter pictures of the pixel format \(picture.pixelFormat).")
        }
        var planes: [Plane] = []
        for index in 0..<planeCount {
            let isChroma = index == 1 || index == 2
            let shift = isChroma ? unsafe Int(layout.pointee.log2_chroma_h) : 0
            let rows = -(-picture.size.height >> shift)
            let rowBytes = unsafe Int(av_image_get_linesize(format, frame.pointee.width, Int32(index)))
            guard let plane = picture.planes[index], rowBytes > 0, plane.holds(rows: rows, of: rowBytes) else {
                throw InletError(
                    .malformedData, "Plane \(index) of the picture is missing or too short.",
                    context: .init(sequence: picture.sequence))
            }
            planes.append(Plane(plane: plane, rows: rows, rowBytes: rowBytes))
        }
        if planes.allSatisfy(\.isReadable) { try borrow(planes, of: picture) } else { try copy(planes) }
    }

    /// A plane that has been checked.
    private struct Plane {
        var plane: SourcePlane
        var rows: Int
        var rowBytes: Int

        /// Whether libavfilter may read the plane in place.
        var isReadable: Bool {
            let end = plane.offset + plane.stride * (rows - 1) + rowBytes
            let address = unsafe Int(bitPattern: plane.topRow)
            return plane.stride > 0 && plane.stride.isMultiple(of: FilterInput.alignment)
                && address.isMultiple(of: FilterInput.alignment) && plane.byteCount - end >= FilterInput.readAhead
        }
    }

    /// Lends the source's memory.
    private func borrow(_ planes: [Plane], of picture: SourceFrame) throws(InletError) {
        for (index, plane) in planes.enumerated() {
            guard let buffer = unsafe BufferOwnership.buffer(plane.plane.bytesFromTop, owner: picture.owner) else {
                throw InletError(ffmpeg: -ENOMEM, operation: "av_buffer_create")
            }
            let (data, stride) = unsafe (buffer.pointee.data, Int32(clamping: plane.plane.stride))
            switch index {
            case 0:
                unsafe (frame.pointee.buf.0, frame.pointee.data.0, frame.pointee.linesize.0) = (buffer, data, stride)
            case 1:
                unsafe (frame.pointee.buf.1, frame.pointee.data.1, frame.pointee.linesize.1) = (buffer, data, stride)
            case 2:
                unsafe (frame.pointee.buf.2, frame.pointee.data.2, frame.pointee.linesize.2) = (buffer, data, stride)
            default:
                unsafe (frame.pointee.buf.3, frame.pointee.data.3, frame.pointee.linesize.3) = (buffer, data, stride)
            }
        }
    }

    private func copy(_ planes: [Plane]) throws(InletError) {
        let code = unsafe av_frame_get_buffer(frame, 0)
        if code < 0 { throw InletError(ffmpeg: code, operation: "av_frame_get_buffer") }
        let data = unsafe frame.pointee.data
        let strides = unsafe frame.pointee.linesize
        for (index, plane) in planes.enumerated() {
            let (target, stride) =
                switch index {
                case 0: unsafe (data.0, strides.0)
                case 1: unsafe (data.1, strides.1)
                case 2: unsafe (data.2, strides.2)
                default: unsafe (data.3, strides.3)
                }
            guard let from = unsafe plane.plane.topRow, let to = unsafe target else { continue }
            for row in 0..<plane.rows {
                unsafe (to + row * Int(stride)).update(from: from + row * plane.plane.stride, count: plane.rowBytes)
            }
        }
    }
}

extension ColorSpace {
    /// The colour space, with the unspecified properties of a picture of high dynamic range taken from BT.2100, which
    /// defines both transfer characteristics.
    fileprivate var completed: ColorSpace {
        guard transfer.highDynamicRangeName != nil else { return self }
        var result = self
        if primaries == .unspecified { result.primaries = .bt2020 }
        if matrix == .unspecified { result.matrix = .bt2020 }
        if range == .unspecified { result.range = .limited }
        return result
    }
}

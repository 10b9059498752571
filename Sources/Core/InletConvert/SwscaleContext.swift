import CFFmpeg
import InletCore

// Unsafe: owns a libswscale context, which one thread at a time uses.
/// The owner of one libswscale context, which converts pictures of one format and size to I420.
///
/// `@unchecked Sendable`: it moves between threads, but ``SwscaleContextStore`` hands it to one conversion at a time,
/// under a lock, so that no two threads use it at once.
@safe final class SwscaleContext: @unchecked Sendable {
    /// The properties that a context is made for.
    struct Shape: Sendable, Hashable {
        var format: AVPixelFormat
        var size: ImageSize
        /// Whether luma and chroma are of full range, before and after.
        var isFullRange: Bool
    }

    /// The bytes of memory that must follow a plane, because libswscale reads beyond the end of rows: up to 32 bytes
    /// for RGB and fewer for YUV with the x86 kernels of FFmpeg 5.1, measured with a guard page after each plane. Twice
    /// that leaves room for wider kernels.
    static let readAhead = 64

    let shape: Shape
    private let format: NativeFormat
    private let context: OpaquePointer
    // The arguments of `sws_scale`, four of each.
    private let source = UnsafeMutablePointer<UnsafePointer<UInt8>?>.allocate(capacity: 4)
    private let sourceStrides = UnsafeMutablePointer<Int32>.allocate(capacity: 4)
    private let target = UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>.allocate(capacity: 4)
    private let targetStrides = UnsafeMutablePointer<Int32>.allocate(capacity: 4)
    // Allocated when a plane first needs one.
    private var copies: [PlaneCopy?] = [nil, nil, nil, nil]

    /// - Throws: ``InletError/Code/unsupported`` if libswscale refuses the format or size.
    init(_ shape: Shape, format: NativeFormat) throws(InletError) {
        guard let context = unsafe sws_alloc_context() else {
            throw InletError(.resourceExhausted, "There is no memory for a conversion of \(shape.size) pictures.")
        }
        self.shape = shape
        self.format = format
        unsafe self.context = context
        unsafe source.initialize(repeating: nil, count: 4)
        unsafe sourceStrides.initialize(repeating: 0, count: 4)
        unsafe target.initialize(repeating: nil, count: 4)
        unsafe targetStrides.initialize(repeating: 0, count: 4)

        // libswscale treats gray as full range when it looks for a plain copy. Its real range is set below.
        let initialRange: Int64 = shape.isFullRange || format.samples == .gray ? 1 : 0
        let options: [(String, Int64)] = [
            ("srcw", Int64(shape.size.width)), ("srch", Int64(shape.size.height)),
            ("dstw", Int64(shape.size.width)), ("dsth", Int64(shape.size.height)),
            ("src_format", Int64(Self.rangeless(shape.format).rawValue)),
            ("dst_format", Int64(AV_PIX_FMT_YUV420P.rawValue)),
            ("src_range", initialRange), ("dst_range", initialRange),
            ("sws_flags", Int64(SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT)),
            // Chroma between two rows of luma, where FFmpeg's scale filter puts it in yuv420p.
            ("dst_v_chr_pos", 128), ("threads", 1),
        ]
        for (name, value) in options {
            let status = unsafe av_opt_set_int(UnsafeMutableRawPointer(context), name, value, 0)
            guard status >= 0 else { throw Self.failure("av_opt_set_int(\(name))", status, shape, format) }
        }
        let status = unsafe sws_init_context(context, nil, nil)
        guard status >= 0 else { throw Self.failure("sws_init_context", status, shape, format) }
        // The same range and matrix on both sides leaves YUV unchanged. RGB gets the matrix of BT.601, and no range.
        let matrix = unsafe sws_getCoefficients(SWS_CS_ITU601)
        let range: Int32 = shape.isFullRange ? 1 : 0
        let one: Int32 = 1 << 16
        let result = unsafe sws_setColorspaceDetails(context, matrix, range, matrix, range, 0, one, one)
        guard result >= 0 else { throw Self.failure("sws_setColorspaceDetails", result, shape, format) }
    }

    deinit {
        unsafe sws_freeContext(context)
        unsafe source.deallocate()
        unsafe sourceStrides.deallocate()
        unsafe target.deallocate()
        unsafe targetStrides.deallocate()
    }

    /// Converts a frame of the context's shape, whose planes have been checked against its format.
    func convert(_ frame: SourceFrame, into draft: inout I420Draft) throws(InletError) {
        for index in 0..<format.planeCount {
            guard let plane = frame.planes[index] else { continue }
            let (rows, rowBytes) = format.extent(ofPlane: index, in: shape.size)
            if let copy = copy(ofPlane: index, plane, rows: rows, rowBytes: rowBytes) {
                unsafe source[index] = copy.fill(from: plane)
                unsafe sourceStrides[index] = Int32(copy.stride)
            } else {
                unsafe source[index] = plane.topRow
                unsafe sourceStrides[index] = Int32(plane.stride)
            }
        }
        let planes = unsafe I420Target(&draft)
        unsafe (target[0], target[1], target[2]) = unsafe (planes.y, planes.u, planes.v)
        unsafe (targetStrides[0], targetStrides[1], targetStrides[2]) =
            unsafe (planes.yStride, planes.uStride, planes.vStride)
        let height = Int32(shape.size.height)
        let status = unsafe sws_scale(context, source, sourceStrides, 0, height, target, targetStrides)
        withExtendedLifetime(frame.owner) {}
        guard status == height else { throw Self.failure("sws_scale", status, shape, format) }
    }

    /// Returns where to copy a plane before the conversion, or nil if libswscale can read the plane itself.
    private func copy(ofPlane index: Int, _ plane: SourcePlane, rows: Int, rowBytes: Int) -> PlaneCopy? {
        guard index != format.palettePlane else { return nil }
        let lastRow = plane.offset + max(0, plane.stride * (rows - 1))
        let isTight = plane.byteCount - lastRow - rowBytes < Self.readAhead
        // libswscale steps through rows of 16-bit samples by half the stride, and treats a stride of 0, which a single
        // row may have, as a missing plane.
        let isOdd = (format.hasWideSamples && plane.stride % 2 != 0) || plane.stride == 0
        // libswscale takes the chroma of RGB from pairs of pixels, and half of an odd row's last pair from the memory
        // after the row.
        let isHalfPair = format.samples == .rgb && shape.size.width % 2 != 0
        // libswscale converts whole strides of XYZ, including the padding, and does nothing if they are negative.
        guard isTight || isOdd || isHalfPair || format.isXYZ else { return nil }
        if let copy = copies[index] { return copy }
        let pixel = ImageSize(width: 1, height: 1)
        let copy = PlaneCopy(
            rows: rows, rowBytes: rowBytes, pixelBytes: format.extent(ofPlane: index, in: pixel).rowBytes)
        copies[index] = copy
        return copy
    }

    /// Returns the format without the range in its name, which libswscale calls deprecated.
    private static func rangeless(_ format: AVPixelFormat) -> AVPixelFormat {
        switch format {
        case AV_PIX_FMT_YUVJ411P: AV_PIX_FMT_YUV411P
        case AV_PIX_FMT_YUVJ420P: AV_PIX_FMT_YUV420P
        case AV_PIX_FMT_YUVJ422P: AV_PIX_FMT_YUV422P
        case AV_PIX_FMT_YUVJ440P: AV_PIX_FMT_YUV440P
        case AV_PIX_FMT_YUVJ444P: AV_PIX_FMT_YUV444P
        default: format
        }
    }

    private static func failure(
        _ operation: String, _ status: Int32, _ shape: Shape, _ format: NativeFormat
    ) -> InletError {
        InletError(
            .unsupported,
            """
            libswscale cannot turn \(shape.size) \(format.pixelFormat) pictures into I420. \
            Have the source deliver another size or pixel format.
            """,
            context: InletError.Context(operation: operation, nativeCode: status))
    }
}

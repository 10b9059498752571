import CYUV
import InletCore

// Unsafe: passes planes to libyuv.
/// How a pixel format is converted to I420 without libswscale.
///
/// To give a format a dedicated conversion, add its line to ``byFormat``. `Scripts/bench --convert` shows the gain.
@safe enum DirectConversion: Sendable {
    /// Planes 0 to 2 are I420 already; a fourth holds alpha, which is left out.
    case wrap
    /// Three planes of 8 bits with more chroma than I420 has; a fourth holds alpha, which is left out.
    case planar(PlanarConversion)
    /// Samples of more than 8 bits.
    case deep(DeepConversion)
    /// A plane of luma, and one of both chroma components.
    case semiplanar(SemiplanarFunction)
    /// One plane of all components.
    case packed(PackedFunction)
    /// Planes of green, blue and red; a fourth holds alpha, which is left out.
    case planarRGB
    /// A single plane of luma.
    case gray

    // libyuv names RGB formats by the register, most significant byte first: its ARGB is B, G, R, A in memory.
    static let byFormat: [PixelFormat: DirectConversion] = {
        let halvesRows = DirectConversion.planar(PlanarConversion(halvesColumns: false, halvesRows: true))
        let halvesColumns = DirectConversion.planar(PlanarConversion(halvesColumns: true, halvesRows: false))
        let halvesBoth = DirectConversion.planar(PlanarConversion(halvesColumns: true, halvesRows: true))
        let eightBits: [(DirectConversion, [PixelFormat])] = unsafe [
            (.wrap, [.yuv420p, .yuvj420p, PixelFormat("yuva420p")]),
            (halvesRows, [.yuv422p, PixelFormat("yuvj422p"), PixelFormat("yuva422p")]),
            (halvesColumns, [PixelFormat("yuv440p"), PixelFormat("yuvj440p")]),
            (halvesBoth, [.yuv444p, PixelFormat("yuvj444p"), PixelFormat("yuva444p")]),
            (.gray, [PixelFormat("gray")]),
            (.semiplanar(NV12ToI420), [.nv12]),
            (.semiplanar(NV21ToI420), [.nv21]),
            (.packed(YUY2ToI420), [.yuyv422]),
            (.packed(UYVYToI420), [.uyvy422]),
            (.packed(convertYVYU), [PixelFormat("yvyu422")]),
            (.packed(ARGBToI420), [.bgra, PixelFormat("bgr0")]),
            (.packed(ABGRToI420), [.rgba, PixelFormat("rgb0")]),
            (.packed(BGRAToI420), [PixelFormat("argb"), PixelFormat("0rgb")]),
            (.packed(RGBAToI420), [PixelFormat("abgr"), PixelFormat("0bgr")]),
            (.packed(RAWToI420), [.rgb24]),
            (.packed(RGB24ToI420), [.bgr24]),
            (.planarRGB, [PixelFormat("gbrp"), PixelFormat("gbrap")]),
        ]
        var formats = DeepConversion.byFormat.mapValues(DirectConversion.deep)
        for (conversion, names) in eightBits { for name in names { formats[name] = conversion } }
        return formats
    }()

    /// The source and its stride; Y, U and V with their strides; width and height. Returns 0 for success.
    typealias PackedFunction =
        @Sendable (
            UnsafePointer<UInt8>?, Int32,
            UnsafeMutablePointer<UInt8>?, Int32, UnsafeMutablePointer<UInt8>?, Int32,
            UnsafeMutablePointer<UInt8>?, Int32, Int32, Int32
        ) -> Int32
    /// Luma and chroma with their strides; Y, U and V with their strides; width and height. Returns 0 for success.
    typealias SemiplanarFunction =
        @Sendable (
            UnsafePointer<UInt8>?, Int32, UnsafePointer<UInt8>?, Int32,
            UnsafeMutablePointer<UInt8>?, Int32, UnsafeMutablePointer<UInt8>?, Int32,
            UnsafeMutablePointer<UInt8>?, Int32, Int32, Int32
        ) -> Int32

    /// Converts a frame whose planes have been checked against its format.
    ///
    /// - Parameter range: the range of the result.
    func convert(_ frame: SourceFrame, range: ColorRange, pool: I420BufferPool) throws(InletError) -> I420Buffer {
        if case .wrap = self, let buffer = try Self.wrapped(frame) { return buffer }
        var draft = try pool.makeBuffer(size: frame.size)
        let status = unsafe convert(frame, range: range, into: I420Target(&draft))
        withExtendedLifetime(frame.owner) {}
        guard status == 0 else {
            throw .yuv("convert", status, "converting \(frame.size) \(frame.pixelFormat) to I420")
        }
        return draft.publish()
    }

    /// - Returns: 0 for success.
    private func convert(_ frame: SourceFrame, range: ColorRange, into target: I420Target) -> Int32 {
        let (width, height) = (Int32(frame.size.width), Int32(frame.size.height))
        func source(_ index: Int) -> (UnsafePointer<UInt8>?, Int32) {
            guard let plane = frame.planes[index] else { return (nil, 0) }
            return unsafe (plane.topRow, Int32(plane.stride))
        }
        let (first, firstStride) = unsafe source(0)
        let (second, secondStride) = unsafe source(1)
        switch self {
        case .wrap:
            let (third, thirdStride) = unsafe source(2)
            return unsafe I420Copy(
                first, firstStride, second, secondStride, third, thirdStride,
                target.y, target.yStride, target.u, target.uStride, target.v, target.vStride, width, height)
        case .planar(let conversion): unsafe conversion.convert(frame, into: target)
        case .deep(let conversion): unsafe conversion.convert(frame, range: range, into: target)
        case .semiplanar(let function):
            return unsafe function(
                first, firstStride, second, secondStride,
                target.y, target.yStride, target.u, target.uStride, target.v, target.vStride, width, height)
        case .packed(let function):
            return unsafe function(
                first, firstStride,
                target.y, target.yStride, target.u, target.uStride, target.v, target.vStride, width, height)
        case .planarRGB:
            let (third, thirdStride) = unsafe source(2)
            return unsafe Self.convertRGB(
                red: (third, thirdStride), green: (first, firstStride), blue: (second, secondStride), frame.size,
                into: target)
        case .gray:
            return unsafe I400ToI420(
                first, firstStride,
                target.y, target.yStride, target.u, target.uStride, target.v, target.vStride, width, height)
        }
        return 0
    }

    /// Converts YUYV with its chroma components exchanged.
    private static let convertYVYU: PackedFunction = {
        unsafe YUY2ToI420($0, $1, $2, $3, $6, $7, $4, $5, $8, $9)
    }

    /// Joins the planes into pixels, a few rows at a time, so that these are still in the cache when they are
    /// converted.
    private static func convertRGB(
        red: (UnsafePointer<UInt8>?, Int32), green: (UnsafePointer<UInt8>?, Int32),
        blue: (UnsafePointer<UInt8>?, Int32), _ size: ImageSize, into target: I420Target
    ) -> Int32 {
        let stripRows = 8
        let stride = size.width * 4
        return unsafe withUnsafeTemporaryAllocation(byteCount: stride * stripRows, alignment: 64) { strip in
            let pixels = unsafe strip.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let width = Int32(size.width)
            for top in Swift.stride(from: 0, to: size.height, by: stripRows) {
                let rows = Int32(min(stripRows, size.height - top))
                func row(_ plane: (UnsafePointer<UInt8>?, Int32)) -> UnsafePointer<UInt8>? {
                    unsafe plane.0.map { unsafe $0 + top * Int(plane.1) }
                }
                unsafe MergeARGBPlane(
                    row(red), red.1, row(green), green.1, row(blue), blue.1, nil, 0, pixels, Int32(stride), width, rows)
                let status = unsafe ARGBToI420(
                    pixels, Int32(stride), target.y + top * Int(target.yStride), target.yStride,
                    target.u + top / 2 * Int(target.uStride), target.uStride,
                    target.v + top / 2 * Int(target.vStride), target.vStride, width, rows)
                if status != 0 { return status }
            }
            return 0
        }
    }

    /// Returns a buffer of the frame's own memory; nil if its rows do not follow one another downwards, as a buffer's
    /// must.
    static func wrapped(_ frame: SourceFrame) throws(InletError) -> I420Buffer? {
        let chroma = frame.size.chroma.width
        guard let y = frame.planes[0], let u = frame.planes[1], let v = frame.planes[2],
            y.stride >= frame.size.width, u.stride >= chroma, v.stride >= chroma
        else { return nil }
        return try unsafe I420Buffer(
            size: frame.size, y: y.bytesFromTop, u: u.bytesFromTop, v: v.bytesFromTop,
            strides: I420Buffer.Strides(y: y.stride, u: u.stride, v: v.stride), owner: frame.owner)
    }
}

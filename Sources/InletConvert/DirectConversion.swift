import CYUV
import InletCore

/// How a pixel format becomes I420 without libswscale.
///
/// To give a format a conversion of its own, add its line to ``byFormat``.
@safe enum DirectConversion: Sendable {
    /// Planes 0 to 2 are I420 already; a fourth holds alpha, which is left out.
    case wrap
    /// A plane of luma, and one of both chroma components.
    case semiplanar(SemiplanarFunction)
    /// One plane of everything.
    case packed(PackedFunction)

    // libyuv names RGB formats by the register, most significant byte first: its ARGB is B, G, R, A in memory.
    static let byFormat: [PixelFormat: DirectConversion] = unsafe [
        .yuv420p: .wrap,
        .yuvj420p: .wrap,
        PixelFormat("yuva420p"): .wrap,
        .nv12: .semiplanar(NV12ToI420),
        .nv21: .semiplanar(NV21ToI420),
        .yuyv422: .packed(YUY2ToI420),
        .uyvy422: .packed(UYVYToI420),
        .bgra: .packed(ARGBToI420),
        .rgba: .packed(ABGRToI420),
        .rgb24: .packed(RAWToI420),
        .bgr24: .packed(RGB24ToI420),
    ]

    /// The source and its stride; Y, U and V with their strides; width and height. Gives 0 for success.
    typealias PackedFunction =
        @Sendable (
            UnsafePointer<UInt8>?, Int32,
            UnsafeMutablePointer<UInt8>?, Int32, UnsafeMutablePointer<UInt8>?, Int32,
            UnsafeMutablePointer<UInt8>?, Int32, Int32, Int32
        ) -> Int32
    /// Luma and chroma with their strides; Y, U and V with their strides; width and height. Gives 0 for success.
    typealias SemiplanarFunction =
        @Sendable (
            UnsafePointer<UInt8>?, Int32, UnsafePointer<UInt8>?, Int32,
            UnsafeMutablePointer<UInt8>?, Int32, UnsafeMutablePointer<UInt8>?, Int32,
            UnsafeMutablePointer<UInt8>?, Int32, Int32, Int32
        ) -> Int32

    /// Converts a frame whose planes have been checked against its format.
    func convert(_ frame: SourceFrame, pool: I420BufferPool) throws(InletError) -> I420Buffer {
        let size = frame.size
        let (width, height) = (Int32(size.width), Int32(size.height))
        func source(_ index: Int) -> (UnsafePointer<UInt8>?, Int32) {
            guard let plane = frame.planes[index] else { return (nil, 0) }
            return unsafe (plane.topRow, Int32(plane.stride))
        }
        if case .wrap = self, let buffer = try Self.wrapped(frame) { return buffer }

        var draft = try pool.makeBuffer(size: size)
        let target = unsafe I420Target(&draft)
        let (first, firstStride) = unsafe source(0)
        let (second, secondStride) = unsafe source(1)
        let status: Int32
        switch self {
        case .wrap:
            let (third, thirdStride) = unsafe source(2)
            status = unsafe I420Copy(
                first, firstStride, second, secondStride, third, thirdStride,
                target.y, target.yStride, target.u, target.uStride, target.v, target.vStride, width, height)
        case .semiplanar(let function):
            status = unsafe function(
                first, firstStride, second, secondStride,
                target.y, target.yStride, target.u, target.uStride, target.v, target.vStride, width, height)
        case .packed(let function):
            status = unsafe function(
                first, firstStride,
                target.y, target.yStride, target.u, target.uStride, target.v, target.vStride, width, height)
        }
        withExtendedLifetime(frame.owner) {}
        guard status == 0 else { throw .yuv("convert", status, "converting \(size) \(frame.pixelFormat) to I420") }
        return draft.publish()
    }

    /// A buffer of the frame's own memory; nil where its rows do not follow one another downwards, as a buffer's must.
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

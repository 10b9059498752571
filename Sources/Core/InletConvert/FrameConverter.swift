import CYUV
public import InletCore

// Unsafe: passes the planes of checked pictures to the conversions.
/// Converts native pictures to I420: without a pass if they are I420 already, otherwise in exactly one.
///
/// libyuv converts common 8-bit formats: YUV of every usual chroma, planar, semi-planar and packed, RGB and gray.
/// Functions of this module convert YUV of more bits, with a dither, and libswscale everything else that libavutil
/// names. Range and matrix of YUV and gray pictures are unchanged; RGB becomes BT.601 of limited range, as FFmpeg does
/// it. Alpha is left out.
///
/// Safe from any thread. It keeps a few libswscale contexts for reuse, so keep the converter too.
public final class FrameConverter: Sendable {
    private let contexts = SwscaleContextStore()

    public init() {}

    /// Returns the frame as I420 at its own size.
    ///
    /// A yuv420p, yuvj420p or yuva420p picture stored top down is wrapped: the buffer uses the frame's memory and keeps
    /// its owner. libswscale reads a little past the end of planes: a plane with fewer than 64 bytes after it costs a
    /// second pass, as does RGB of odd width. Bayer mosaics must be of even size.
    ///
    /// - Parameters:
    ///   - frame: a frame in any pixel format.
    ///   - pool: provides memory if any is needed.
    /// - Throws: ``InletError/Code/unsupported`` for pixel formats that nothing here reads, such as those of hardware
    ///   surfaces; ``InletError/Code/malformedData`` for planes that are missing or too short;
    ///   ``InletError/Code/invalidConfiguration`` for an impossible size; ``InletError/Code/resourceExhausted`` if the
    ///   pool is exhausted.
    public func i420(from frame: SourceFrame, pool: I420BufferPool) throws(InletError) -> I420Picture {
        // The most common case, without a look-up or a call into libavutil: the buffer checks the planes itself. Errors
        // are reported below.
        if frame.pixelFormat == .yuv420p, let buffer = try? DirectConversion.wrapped(frame) {
            return I420Picture(buffer: buffer, colorSpace: frame.colorSpace)
        }
        do throws(InletError) {
            let format = try NativeFormat.named(frame.pixelFormat)
            guard let conversion = format.conversion else { throw Self.unsupported(format.pixelFormat) }
            try format.check(frame)
            let colorSpace = format.converted(frame.colorSpace)
            let buffer =
                switch conversion {
                case .direct(let direct): try direct.convert(frame, range: colorSpace.range, pool: pool)
                case .swscale: try contexts.convert(frame, format: format, range: colorSpace.range, pool: pool)
                }
            return I420Picture(buffer: buffer, colorSpace: colorSpace)
        } catch {
            var error = error
            error.context.sequence = error.context.sequence ?? frame.sequence
            throw error
        }
    }

    /// Returns the colour space that pictures have after their conversion to I420.
    package static func colorSpace(_ native: ColorSpace, after pixelFormat: PixelFormat) -> ColorSpace {
        (try? NativeFormat.named(pixelFormat))?.converted(native) ?? native
    }

    static func unsupported(_ pixelFormat: PixelFormat) -> InletError {
        InletError(
            .unsupported,
            """
            Pictures of the pixel format \(pixelFormat) cannot be converted to I420. Have the source deliver another \
            one; pictures in a device's memory must be downloaded first.
            """)
    }

    /// Returns the picture scaled to exactly `size`: by a box filter if it shrinks to less than half in both
    /// directions, otherwise bilinearly. Returns the same buffer if the size is right already.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for an impossible size; ``InletError/Code/resourceExhausted``
    ///   if the pool is exhausted.
    public func scaled(
        _ buffer: I420Buffer, to size: ImageSize, pool: I420BufferPool
    ) throws(InletError) -> I420Buffer {
        guard buffer.size != size else { return buffer }
        let source = try unsafe I420Source(buffer)
        var draft = try pool.makeBuffer(size: size)
        let target = unsafe I420Target(&draft)
        // libyuv switches from box to bilinear if a box would not cover two pixels.
        let status = unsafe I420Scale(
            source.y, source.yStride, source.u, source.uStride, source.v, source.vStride,
            Int32(buffer.size.width), Int32(buffer.size.height),
            target.y, target.yStride, target.u, target.uStride, target.v, target.vStride,
            Int32(size.width), Int32(size.height), kFilterBox)
        withExtendedLifetime(buffer) {}
        guard status == 0 else { throw .yuv("I420Scale", status, "scaling \(buffer.size) to \(size)") }
        return draft.publish()
    }

    /// Returns the picture rotated clockwise. Returns the same buffer for ``Rotation/none``.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` if the pool is exhausted.
    public func rotated(
        _ buffer: I420Buffer, by rotation: Rotation, pool: I420BufferPool
    ) throws(InletError) -> I420Buffer {
        let mode: RotationMode
        switch rotation {
        case .none: return buffer
        case .clockwise90: mode = kRotate90
        case .clockwise180: mode = kRotate180
        case .clockwise270: mode = kRotate270
        }
        let source = try unsafe I420Source(buffer)
        var draft = try pool.makeBuffer(size: rotation.swapsDimensions ? buffer.size.transposed : buffer.size)
        let target = unsafe I420Target(&draft)
        let status = unsafe I420Rotate(
            source.y, source.yStride, source.u, source.uStride, source.v, source.vStride,
            target.y, target.yStride, target.u, target.uStride, target.v, target.vStride,
            Int32(buffer.size.width), Int32(buffer.size.height), mode)
        withExtendedLifetime(buffer) {}
        guard status == 0 else { throw .yuv("I420Rotate", status, "turning \(buffer.size) by \(rotation)") }
        return draft.publish()
    }
}

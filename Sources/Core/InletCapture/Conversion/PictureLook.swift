import InletConvert
import InletCore

/// Everything about a source's pictures, other than their content, that sinks treat as a format: a recorder begins a
/// new file when it changes.
struct PictureLook: Equatable {
    /// Size, rotation and pixel shape, as the source stores the pictures.
    var shape: PictureShape
    private var pixelFormat: PixelFormat
    private var nativeColorSpace: ColorSpace

    /// The colour space after the conversion to I420.
    var colorSpace: ColorSpace { FrameConverter.colorSpace(nativeColorSpace, after: pixelFormat) }

    /// Creates the look of I420 pictures of a size, with square pixels.
    init(size: ImageSize, colorSpace: ColorSpace) {
        shape = PictureShape(size: size, sampleAspectRatio: Rational(1))
        (pixelFormat, nativeColorSpace) = (.yuv420p, colorSpace)
    }

    init(_ frame: SourceFrame) {
        shape = PictureShape(
            size: frame.size, rotation: frame.rotation, sampleAspectRatio: frame.sampleAspectRatio)
        (pixelFormat, nativeColorSpace) = (frame.pixelFormat, frame.colorSpace)
    }

    /// Creates the look that a source states before its first picture.
    init(_ format: SourceFormat) {
        shape = PictureShape(
            size: format.size, rotation: format.rotation, sampleAspectRatio: format.sampleAspectRatio)
        (pixelFormat, nativeColorSpace) = (format.pixelFormat, format.colorSpace)
    }
}

import InletCore

/// A format that only libv4l's converter reads.
///
/// Only formats of a fixed length are used. Most of the converter's decoders for compressed formats ignore the end of
/// the data, so a damaged picture would make them read, and some of them write, outside it.
struct VendorFormat: Sendable, Hashable {
    /// The number of bits in one pixel, over all components.
    var bits: Int
    /// The layout that the converter produces.
    var output: Output
    /// The unit of widths and heights, which must be multiples of it.
    var unit: ImageSize
    /// The widths that the converter supports.
    var widths: ClosedRange<Int>
    /// The number of pixels must be a multiple of this.
    var blockPixels: Int

    /// The maximum number of pixels: the converter counts bytes in 32 bits.
    private static let mostPixels = 1 << 26

    /// The format of converted pictures: luma and chroma are kept, and red, green and blue become RGB.
    enum Output: Sendable, Hashable {
        case i420, rgb
    }

    /// The pixel format of the frames.
    var pixelFormat: PixelFormat {
        switch output {
        case .i420: .yuv420p
        case .rgb: PixelFormat("rgb24")
        }
    }

    /// Returns whether the converter stays within the bounds of a picture of this size.
    func fits(_ size: ImageSize) -> Bool {
        size.isValid && size.width * size.height <= Self.mostPixels && size.width % unit.width == 0
            && size.height % unit.height == 0 && widths.contains(size.width)
            && size.width * size.height % blockPixels == 0
    }

    /// Returns the number of bytes in a camera's picture.
    func byteCount(_ size: ImageSize) -> Int { size.width * size.height * bits / 8 }

    /// Returns the offsets and strides of the new picture's planes, and the size of the picture in bytes.
    func layout(size: ImageSize) -> (planes: [(offset: Int, stride: Int)], byteCount: Int) {
        let pixels = size.width * size.height
        switch output {
        case .i420:
            let half = size.width / 2
            return ([(0, size.width), (pixels, half), (pixels + pixels / 4, half)], pixels + pixels / 2)
        case .rgb: return ([(0, 3 * size.width)], 3 * pixels)
        }
    }
}

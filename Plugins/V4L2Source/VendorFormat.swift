import InletCore

/// A format that libv4l's converter reads and no other library here.
///
/// Only formats of a fixed length: most of the converter's decoders of compressed ones do not mind the end of the data,
/// so that a damaged picture would have them read, and some of them write, outside it.
struct VendorFormat: Sendable, Hashable {
    /// Bits of one pixel, over all components.
    var bits: Int
    /// What the converter makes of it.
    var output: Output
    /// Widths and heights are multiples of this.
    var unit: ImageSize
    /// The widths that the converter can do.
    var widths: ClosedRange<Int>
    /// The number of pixels is a multiple of this.
    var blockPixels: Int

    /// The converter counts bytes in 32 bits.
    private static let mostPixels = 1 << 26

    /// What pictures become: luma and chroma stay as they are, and what is of red, green and blue becomes RGB.
    enum Output: Sendable, Hashable {
        case i420, rgb
    }

    /// What frames hold.
    var pixelFormat: PixelFormat {
        switch output {
        case .i420: .yuv420p
        case .rgb: PixelFormat("rgb24")
        }
    }

    /// Whether the converter stays inside a picture of this size.
    func fits(_ size: ImageSize) -> Bool {
        size.isValid && size.width * size.height <= Self.mostPixels && size.width % unit.width == 0
            && size.height % unit.height == 0 && widths.contains(size.width)
            && size.width * size.height % blockPixels == 0
    }

    /// How many bytes a camera's picture has.
    func byteCount(_ size: ImageSize) -> Int { size.width * size.height * bits / 8 }

    /// Where the planes of the new picture are, and how many bytes it takes.
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

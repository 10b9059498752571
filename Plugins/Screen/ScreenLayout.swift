import InletCore

/// The pixel layout of an X server's screen.
struct ScreenLayout: Hashable {
    /// The number of bits of a pixel that encode its colour.
    var depth = 24
    /// The number of bits of a pixel.
    var bitsPerPixel = 32
    /// The unit of row lengths in bits: each row is a multiple of it.
    var rowPadding = 32
    var isBigEndian = false
    /// Whether a pixel's value is its colour, not an index into a colour table.
    var isTrueColor = true
    /// The bits of each colour in a pixel's value.
    var red: UInt32 = 0xff_0000
    var green: UInt32 = 0xff00
    var blue: UInt32 = 0xff

    /// The format's name in FFmpeg; nil for a layout without one.
    var pixelFormat: PixelFormat? {
        guard isTrueColor else { return nil }
        return switch (bitsPerPixel, red, green, blue) {
        case (32, 0xff_0000, 0xff00, 0xff): PixelFormat(isBigEndian ? "0rgb" : "bgr0")
        case (32, 0xff, 0xff00, 0xff_0000): PixelFormat(isBigEndian ? "0bgr" : "rgb0")
        case (32, 0x3ff0_0000, 0xf_fc00, 0x3ff) where !isBigEndian: PixelFormat("x2rgb10le")
        case (24, 0xff_0000, 0xff00, 0xff): isBigEndian ? .rgb24 : .bgr24
        case (16, 0xf800, 0x7e0, 0x1f): PixelFormat(isBigEndian ? "rgb565be" : "rgb565le")
        case (16, 0x7c00, 0x3e0, 0x1f): PixelFormat(isBigEndian ? "rgb555be" : "rgb555le")
        default: nil
        }
    }

    /// Whether the pointer can be drawn, because its pixels have the same layout.
    var isBGRX: Bool { pixelFormat?.name == "bgr0" }

    /// Returns the bytes from one row of a picture to the next.
    func stride(width: Int) -> Int {
        let padding = max(8, rowPadding)
        return (width * bitsPerPixel + padding - 1) / padding * padding / 8
    }

    /// The layout in words, for an error.
    var summary: String {
        isTrueColor
            ? "\(depth) bits in \(bitsPerPixel), red \(hex(red)), green \(hex(green)), blue \(hex(blue))"
            : "\(depth) bits with a colour table"
    }

    private func hex(_ mask: UInt32) -> String { "0x" + String(mask, radix: 16) }
}

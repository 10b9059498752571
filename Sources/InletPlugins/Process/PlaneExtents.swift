import InletCore

/// How many rows of how many bytes the planes of a picture have, for the pixel formats that plug-ins use most.
///
/// A picture of another format is checked by what converts it.
enum PlaneExtents {
    /// The planes of a picture, at most four.
    struct Planes: Equatable {
        private(set) var count = 0
        private var sizes: InlineArray<4, ImageSize> = .init(repeating: ImageSize(width: 0, height: 0))

        /// The bytes in a row and the rows of a plane.
        subscript(index: Int) -> ImageSize { sizes[index] }

        fileprivate mutating func append(_ width: Int, _ height: Int) {
            sizes[count] = ImageSize(width: width, height: height)
            count += 1
        }

        static func == (left: Self, right: Self) -> Bool {
            left.count == right.count && (0..<left.count).allSatisfy { left[$0] == right[$0] }
        }
    }

    /// How a format is laid out.
    private struct Layout {
        /// Bytes of each sample in the first plane, or of each pixel of a packed format.
        var bytes = 1
        var chroma = Chroma.none
        /// By what powers of two chroma has fewer columns and rows.
        var shift = (x: 0, y: 0)
        /// How many columns share bytes, in a packed format.
        var group = 1
        var hasAlpha = false
    }

    private enum Chroma { case none, planes, interleaved }

    /// Returns the planes of a picture; nil for a format not known here.
    ///
    /// - Parameter size: at most 32768 in either direction.
    static func planes(of format: PixelFormat, size: ImageSize) -> Planes? {
        guard let layout = layouts[format] else { return nil }
        var planes = Planes()
        let columns = (size.width + layout.group - 1) / layout.group * layout.group
        planes.append(columns * layout.bytes, size.height)
        let chroma = (
            x: size.width + (1 << layout.shift.x) - 1 >> layout.shift.x,
            y: size.height + (1 << layout.shift.y) - 1 >> layout.shift.y
        )
        switch layout.chroma {
        case .none: break
        case .interleaved: planes.append(2 * chroma.x * layout.bytes, chroma.y)
        case .planes:
            for _ in 0..<2 { planes.append(chroma.x * layout.bytes, chroma.y) }
        }
        if layout.hasAlpha { planes.append(size.width * layout.bytes, size.height) }
        return planes
    }

    private static let layouts: [PixelFormat: Layout] = {
        var layouts: [PixelFormat: Layout] = [:]
        let shifts = ["410": (2, 2), "411": (2, 0), "420": (1, 1), "422": (1, 0), "440": (0, 1), "444": (0, 0)]
        for (name, shift) in shifts {
            layouts[PixelFormat("yuv\(name)p")] = Layout(chroma: .planes, shift: shift)
            layouts[PixelFormat("yuvj\(name)p")] = Layout(chroma: .planes, shift: shift)
            layouts[PixelFormat("yuva\(name)p")] = Layout(chroma: .planes, shift: shift, hasAlpha: true)
            for bits in [9, 10, 12, 14, 16] {
                layouts[PixelFormat("yuv\(name)p\(bits)le")] = Layout(bytes: 2, chroma: .planes, shift: shift)
            }
        }
        for (name, shift) in [("12", (1, 1)), ("21", (1, 1)), ("16", (1, 0)), ("24", (0, 0)), ("42", (0, 0))] {
            layouts[PixelFormat("nv\(name)")] = Layout(chroma: .interleaved, shift: shift)
        }
        for (digit, shift) in [("0", (1, 1)), ("2", (1, 0)), ("4", (0, 0))] {
            for bits in ["10", "12", "16"] {
                layouts[PixelFormat("p\(digit)\(bits)le")] = Layout(bytes: 2, chroma: .interleaved, shift: shift)
            }
        }
        for name in ["yuyv422", "uyvy422", "yvyu422"] { layouts[PixelFormat(name)] = Layout(bytes: 2, group: 2) }
        for name in ["bgra", "rgba", "argb", "abgr", "bgr0", "rgb0", "0rgb", "0bgr"] {
            layouts[PixelFormat(name)] = Layout(bytes: 4)
        }
        for name in ["rgb24", "bgr24"] { layouts[PixelFormat(name)] = Layout(bytes: 3) }
        for name in ["rgb48le", "bgr48le"] { layouts[PixelFormat(name)] = Layout(bytes: 6) }
        for name in ["gray", "bayer_bggr8", "bayer_rggb8", "bayer_gbrg8", "bayer_grbg8"] {
            layouts[PixelFormat(name)] = Layout()
        }
        for name in [
            "gray10le", "gray12le", "gray14le", "gray16le", "bayer_bggr16le", "bayer_rggb16le", "bayer_gbrg16le",
            "bayer_grbg16le", "rgb565le", "rgb555le", "bgr565le",
        ] {
            layouts[PixelFormat(name)] = Layout(bytes: 2)
        }
        return layouts
    }()
}

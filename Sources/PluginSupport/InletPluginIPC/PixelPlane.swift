import InletCore

/// The contents of one plane of a pixel format: the number of bytes per number of pixels.
package struct PixelPlane: Sendable, Hashable {
    /// The binary logarithm of the number of picture columns that share one unit.
    package let columnShift: Int
    /// The binary logarithm of the number of picture rows that share one row.
    package let rowShift: Int
    /// The bytes of a unit.
    package let unitBytes: Int

    private init(_ columnShift: Int, _ rowShift: Int, _ unitBytes: Int) {
        self.columnShift = columnShift
        self.rowShift = rowShift
        self.unitBytes = unitBytes
    }

    /// Returns the number of bytes of a picture's row.
    package func rowBytes(width: Int) -> Int { Self.shifted(width, columnShift) * unitBytes }

    /// Returns the number of rows of a picture.
    package func rows(height: Int) -> Int { Self.shifted(height, rowShift) }

    private static func shifted(_ count: Int, _ shift: Int) -> Int { (count + (1 << shift) - 1) >> shift }

    /// The planes of each format, by FFmpeg's name (libavutil/pixdesc.c).
    package static let byFormat: [String: [PixelPlane]] = {
        var table: [String: [PixelPlane]] = [:]
        for (name, column, row) in chroma {
            for (depth, bytes) in depths {
                // yuv420p, yuv420p10le, yuva420p and so on. FFmpeg has no name for some of them, which does no harm.
                let planes = [PixelPlane(0, 0, bytes)] + Array(repeating: PixelPlane(column, row, bytes), count: 2)
                table["yuv\(name)p\(depth)"] = planes
                table["yuva\(name)p\(depth)"] = planes + [PixelPlane(0, 0, bytes)]
                if bytes == 1 { table["yuvj\(name)p"] = planes }
            }
        }
        for (depth, bytes) in depths {
            table["gray\(depth)"] = [PixelPlane(0, 0, bytes)]
            table["gbrp\(depth)"] = Array(repeating: PixelPlane(0, 0, bytes), count: 3)
            table["gbrap\(depth)"] = Array(repeating: PixelPlane(0, 0, bytes), count: 4)
        }
        for (names, planes) in others {
            for name in names.split(atByte: " ") { table[String(name)] = planes }
        }
        return table
    }()

    private static let chroma = [
        ("420", 1, 1), ("422", 1, 0), ("444", 0, 0), ("440", 0, 1), ("411", 2, 0), ("410", 2, 2),
    ]

    private static let depths = [("", 1), ("9le", 2), ("10le", 2), ("12le", 2), ("14le", 2), ("16le", 2)]

    private static let others: [(String, [PixelPlane])] = [
        ("nv12 nv21", [PixelPlane(0, 0, 1), PixelPlane(1, 1, 2)]),
        ("nv16", [PixelPlane(0, 0, 1), PixelPlane(1, 0, 2)]),
        ("nv24 nv42", [PixelPlane(0, 0, 1), PixelPlane(0, 0, 2)]),
        ("p010le p012le p016le", [PixelPlane(0, 0, 2), PixelPlane(1, 1, 4)]),
        ("nv20le p210le p212le p216le", [PixelPlane(0, 0, 2), PixelPlane(1, 0, 4)]),
        ("p410le p412le p416le", [PixelPlane(0, 0, 2), PixelPlane(0, 0, 4)]),
        ("yuyv422 uyvy422 yvyu422", [PixelPlane(1, 0, 4)]),
        ("y210le y212le", [PixelPlane(1, 0, 8)]),
        ("bayer_bggr8 bayer_rggb8 bayer_gbrg8 bayer_grbg8 rgb8 bgr8", [PixelPlane(0, 0, 1)]),
        ("bayer_bggr16le bayer_rggb16le bayer_gbrg16le bayer_grbg16le ya8", [PixelPlane(0, 0, 2)]),
        ("rgb565le bgr565le rgb555le bgr555le rgb444le bgr444le", [PixelPlane(0, 0, 2)]),
        ("rgb24 bgr24", [PixelPlane(0, 0, 3)]),
        ("rgba bgra argb abgr rgb0 bgr0 0rgb 0bgr x2rgb10le x2bgr10le ya16le", [PixelPlane(0, 0, 4)]),
        ("rgb48le bgr48le", [PixelPlane(0, 0, 6)]),
        ("rgba64le bgra64le", [PixelPlane(0, 0, 8)]),
    ]
}

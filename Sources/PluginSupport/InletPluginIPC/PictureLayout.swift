/// The layout of a picture's planes in a slot, for the pixel formats that a plug-in may fill in or lend.
package struct PictureLayout: Sendable {
    /// One plane of a picture.
    package struct Plane: Sendable, Hashable {
        /// The number of bytes of a row that are pixels.
        package let rowBytes: Int
        /// The number of rows.
        package let rows: Int
        /// The offset of the top row, in bytes from the slot's start. A multiple of `INLET_SLOT_ALIGNMENT`.
        package let offset: Int
        /// The distance from one row to the row below it, in bytes. A multiple of 64.
        package let stride: Int
    }

    /// The planes, in the format's order. At most four.
    package let planes: [Plane]
    /// The number of bytes of the picture in a slot. A multiple of `INLET_SLOT_ALIGNMENT`.
    package let length: Int

    /// The largest width and height.
    package static let largestSide = 16384

    /// Lays out a picture; nil if the format is not in ``PixelPlane/byFormat``, or a side is 0 or exceeds
    /// ``largestSide``.
    package init?(_ format: String, width: UInt32, height: UInt32) {
        guard let kinds = PixelPlane.byFormat[format] else { return nil }
        let sides = 1...UInt32(Self.largestSide)
        guard sides.contains(width), sides.contains(height) else { return nil }
        var planes: [Plane] = []
        var end = 0
        for kind in kinds {
            let rowBytes = kind.rowBytes(width: Int(width))
            let rows = kind.rows(height: Int(height))
            let stride = Self.rounded(rowBytes, to: 64)
            planes.append(Plane(rowBytes: rowBytes, rows: rows, offset: end, stride: stride))
            end = Self.rounded(end + stride * rows, to: 4096)
        }
        self.planes = planes
        length = end
    }

    /// Whether the format is one that can be laid out.
    package static func knows(_ format: String) -> Bool { PixelPlane.byFormat[format] != nil }

    private static func rounded(_ count: Int, to unit: Int) -> Int { (count + unit - 1) / unit * unit }
}

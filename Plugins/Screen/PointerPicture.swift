import InletCore

/// The pointer's picture and its position on the screen.
struct PointerPicture: Equatable {
    /// The position of the picture's upper left corner on the screen.
    var x: Int
    var y: Int
    var size: ImageSize
    /// Rows of pixels, each 0xAARRGGBB with the colours premultiplied by the opacity, as XFixes returns them.
    var pixels: [UInt32]

    /// Draws the pointer over a row of a picture.
    ///
    /// - Parameters:
    ///   - row: the pixels of a row, each 0xXXRRGGBB.
    ///   - line: the number of the row on the screen.
    ///   - left: the column on the screen at which the row begins.
    func draw(over row: inout MutableSpan<UInt32>, line: Int, left: Int) {
        let own = line - y
        guard own >= 0, own < size.height, pixels.count == size.width * size.height else { return }
        let first = max(0, x - left)
        let end = min(row.count, x - left + size.width)
        guard first < end else { return }
        for column in first..<end {
            row[column] = Self.blend(pixels[own * size.width + column + left - x], over: row[column])
        }
    }

    /// Returns a pixel with another one, whose colours are premultiplied by its opacity, drawn over it.
    static func blend(_ pixel: UInt32, over below: UInt32) -> UInt32 {
        let clear = 255 - (pixel >> 24)
        if clear == 255 { return below }
        var result: UInt32 = 0
        for shift in [0, 8, 16] as [UInt32] {
            let scaled = ((below >> shift) & 0xff) * clear + 127
            result |= min(255, ((pixel >> shift) & 0xff) + scaled / 255) << shift
        }
        return result
    }
}

public import InletCore

/// Reads the blocks of a `pattern:timecode` picture, also after scaling and lossy compression.
public enum TimecodeReader {
    /// The minimum luma contrast between the black and white reference blocks of a readable picture.
    static let leastContrast = 24

    /// Returns the frame number and capture time in a picture; nil if the picture carries none or if its checksum does
    /// not match.
    ///
    /// The mean of each block's inner quarter is compared with the mean of the black and white blocks of the reference
    /// row, so the picture's range and contrast do not matter.
    public static func read(_ picture: I420Buffer) -> Timecode? {
        guard picture.size.width >= TimecodeLayout.columns, picture.size.height >= TimecodeLayout.rows else {
            return nil
        }
        var sums = (black: 0, white: 0)
        for column in 0..<TimecodeLayout.columns {
            let level = level(column: column, row: 0, in: picture)
            if TimecodeLayout.isWhiteReference(column: column) { sums.white += level } else { sums.black += level }
        }
        let half = TimecodeLayout.columns / 2
        guard sums.white - sums.black >= leastContrast * half else { return nil }
        let threshold = (sums.white + sums.black) / TimecodeLayout.columns
        var code: UInt128 = 0
        for row in TimecodeLayout.codeRows {
            for column in 0..<TimecodeLayout.columns where level(column: column, row: row, in: picture) > threshold {
                code |= 1 << UInt128(TimecodeLayout.bit(column: column, row: row))
            }
        }
        return Timecode(code: code)
    }

    /// Returns the mean luma of the inner quarter of a cell.
    private static func level(column: Int, row: Int, in picture: I420Buffer) -> Int {
        let columns = inner(TimecodeLayout.pixels(column, of: picture.size.width))
        let rows = inner(TimecodeLayout.pixels(row, of: picture.size.height))
        var sum = 0
        for y in rows {
            let pixels = picture.row(y, of: .y)
            for x in columns { sum += Int(pixels[x]) }
        }
        return sum / (columns.count * rows.count)
    }

    /// Returns the middle half of a range, which has at least one element.
    private static func inner(_ range: Range<Int>) -> Range<Int> {
        let margin = range.count / 4
        return range.lowerBound + margin..<range.upperBound - margin
    }
}

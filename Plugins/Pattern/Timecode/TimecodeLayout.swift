public import InletCore

/// The layout of the blocks in a ``TestPattern/timecode`` picture, shared by the writer and the reader.
///
/// The picture is 16 columns by 16 rows of cells at any size, so that a scaled picture is read like the original. The
/// top row is a reference that alternates between black and white, starting with black. The eight rows below it carry
/// ``Timecode/code``, 16 bits per row, most significant bit first, with white for 1. The other rows are for viewers.
public enum TimecodeLayout {
    /// The number of cells in a row.
    public static let columns = 16
    /// The number of rows of cells.
    public static let rows = 16
    /// The rows that carry bits.
    public static let codeRows = 1..<9
    /// The rows for viewers.
    public static let freeRows = 9..<16

    /// The smallest picture size: its cells are four by four pixels, like a codec's smallest block.
    public static let leastSize = ImageSize(width: 64, height: 64)

    /// Returns the pixels of a column of cells in a picture of the given width, or of a row of cells in one of that
    /// height.
    public static func pixels(_ cell: Int, of side: Int) -> Range<Int> {
        cell * side / 16..<(cell + 1) * side / 16
    }

    /// Returns whether a cell of the reference row is white.
    public static func isWhiteReference(column: Int) -> Bool { column % 2 == 1 }

    /// Returns the index of a cell's bit in ``Timecode/code``, counted from the least significant.
    public static func bit(column: Int, row: Int) -> Int {
        127 - ((row - codeRows.lowerBound) * columns + column)
    }
}

import InletCore

/// Draws ``TestPattern/gradient``.
struct GradientPainter: PatternPainter {
    func paint(_ draft: inout I420Draft, frame: UInt64, time: Int64) {
        let size = draft.size
        for column in 0..<size.width {
            let value = ramp(column, of: size.width, from: 16, to: 235)
            draft.fill(.y, columns: column..<column + 1, rows: 0..<1, with: value)
        }
        draft.copy(.y, row: 0, columns: 0..<size.width, to: 1..<size.height)
        let chroma = size.chroma
        for row in 0..<chroma.height {
            let value = ramp(row, of: chroma.height, from: 16, to: 240)
            draft.fill(.u, columns: 0..<chroma.width, rows: row..<row + 1, with: 16 + (240 - value))
            draft.fill(.v, columns: 0..<chroma.width, rows: row..<row + 1, with: value)
        }
    }

    /// Returns the value at a position, rounded to the nearest integer.
    private func ramp(_ position: Int, of count: Int, from first: Int, to last: Int) -> UInt8 {
        UInt8(first + ((last - first) * position * 2 + count - 1) / (2 * (count - 1)))
    }
}

import InletCore

/// Draws ``TestPattern/checkerboard``; the top left square is white.
struct CheckerboardPainter: PatternPainter {
    func paint(_ draft: inout I420Draft, frame: UInt64, time: Int64) {
        let size = draft.size
        let side = max(1, min(size.width, size.height) / 8)
        draft.fillBlack()
        for top in stride(from: 0, to: size.height, by: side) {
            let rows = top..<min(top + side, size.height)
            for left in stride(from: top / side % 2 * side, to: size.width, by: 2 * side) {
                draft.fill(.y, columns: left..<min(left + side, size.width), rows: rows, with: YUVColor.white.y)
            }
        }
    }
}

import InletCore

/// Draws ``TestPattern/zone``: luma is the cosine of pi * r^2 / s, where r is the distance from the middle in pixels
/// and s the shorter side. The frequency at r is r / s cycles a pixel: a half, the most that pixels can carry, at the
/// nearer edges.
struct ZonePlatePainter: PatternPainter {
    // An angle is a 32-bit fraction of a turn whose overflow is the turn's end; its top 12 bits choose from this table.
    private let levels: [UInt8] = (0..<4096).map { index in
        UInt8((125.5 + 109.5 * cosine(turns: Double(index) / 4096)).rounded())
    }

    func paint(_ draft: inout I420Draft, frame: UInt64, time: Int64) {
        let size = draft.size
        let shorter = min(size.width, size.height)
        // r^2 is counted in quarters of a pixel, so that the middle of an even side lies between two pixels: there are
        // r^2 / (2 s) turns, and so this much of a turn for each quarter.
        let step = UInt32((1 << 32) / (8 * shorter))
        draft.fillBlack()
        for row in 0..<(size.height + 1) / 2 {
            let y = 2 * row - size.height + 1
            paint(&draft, row: row, y: y, step: step)
            // The lower half mirrors the upper one.
            draft.copy(.y, row: row, columns: 0..<size.width, to: CollectionOfOne(size.height - 1 - row))
        }
    }

    private func paint(_ draft: inout I420Draft, row: Int, y: Int, step: UInt32) {
        let start = row * draft.strides.y
        let width = draft.size.width
        var bytes = draft.mutableBytes(of: .y)
        for column in 0..<width {
            let x = 2 * column - width + 1
            let angle = UInt32(truncatingIfNeeded: x * x + y * y) &* step
            bytes[start + column] = levels[Int(angle >> 20)]
        }
    }
}

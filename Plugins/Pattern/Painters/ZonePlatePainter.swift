import InletCore

/// Draws ``TestPattern/zone``. Luma is the cosine of pi * r^2 / s, where r is the distance from the centre in pixels
/// and s the shorter side. The frequency at r is r / s cycles per pixel: at the nearer edges a half, the highest that
/// pixels can represent.
struct ZonePlatePainter: PatternPainter {
    // Angles are 32-bit fractions of a turn, and their overflow is a full turn. The top 12 bits index this table.
    private let levels: [UInt8] = (0..<4096).map { index in
        UInt8((125.5 + 109.5 * cosine(turns: Double(index) / 4096)).rounded())
    }

    func paint(_ draft: inout I420Draft, frame: UInt64, time: Int64) {
        let size = draft.size
        let shorter = min(size.width, size.height)
        // r^2 is counted in quarters, so that the centre of an even side can lie between two pixels. The angle is r^2
        // / (2 s) turns, so each quarter adds this fraction of a turn.
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

import InletCore

/// Draws ``TestPattern/timecode``.
struct TimecodePainter: PatternPainter {
    /// The number of frames in which the moving bar crosses the picture.
    let framesPerSweep: UInt64

    private static let background: UInt8 = 100

    func paint(_ draft: inout I420Draft, frame: UInt64, time: Int64) {
        let size = draft.size
        let code = Timecode(
            frame: UInt32(truncatingIfNeeded: frame), captureTime: MonotonicTime(nanoseconds: time)
        ).code
        draft.fill(.u, columns: 0..<size.chroma.width, rows: 0..<size.chroma.height, with: 128)
        draft.fill(.v, columns: 0..<size.chroma.width, rows: 0..<size.chroma.height, with: 128)
        for row in 0..<TimecodeLayout.codeRows.upperBound {
            let rows = TimecodeLayout.pixels(row, of: size.height)
            for column in 0..<TimecodeLayout.columns {
                let isWhite =
                    TimecodeLayout.codeRows.contains(row)
                    ? code >> UInt128(TimecodeLayout.bit(column: column, row: row)) & 1 == 1
                    : TimecodeLayout.isWhiteReference(column: column)
                draft.fill(
                    .y, columns: TimecodeLayout.pixels(column, of: size.width), rows: rows,
                    with: (isWhite ? YUVColor.white : .black).y)
            }
        }
        sweep(&draft, frame: frame)
    }

    /// Draws a bar that crosses the lower part of the picture about once a second, so that viewers see motion.
    private func sweep(_ draft: inout I420Draft, frame: UInt64) {
        let size = draft.size
        let top = TimecodeLayout.pixels(TimecodeLayout.freeRows.lowerBound, of: size.height).lowerBound
        let width = size.width / 16
        let left = Int(frame % framesPerSweep) * (size.width - width) / Int(framesPerSweep)
        draft.fill(.y, columns: 0..<size.width, rows: top..<size.height, with: Self.background)
        draft.fill(.y, columns: left..<left + width, rows: top..<size.height, with: YUVColor.white.y)
    }
}

import Inlet
import PatternSource

/// The test servers' drawing, sample by sample. The check digits of a ``Timecode`` would not find damage outside its
/// cells.
enum TimecodePicture {
    /// The number of edge samples that may differ, because lossy compression moves edges. A damaged macroblock has 256.
    static let tolerated = 64

    /// Returns the number of samples that differ from the drawing by more than lossy compression explains; nil if the
    /// picture cannot be read.
    ///
    /// - Parameter rate: the server's pictures per second, which set the pace of the moving bar.
    static func misfits(_ picture: I420Buffer, rate: Int) -> Int? {
        guard let timecode = TimecodeReader.read(picture) else { return nil }
        let size = picture.size
        var count = 0
        for plane in [I420Buffer.Plane.u, .v] {
            for y in 0..<size.chroma.height {
                let row = picture.row(y, of: plane)
                for x in 0..<size.chroma.width where !(104..<152).contains(row[x]) { count += 1 }
            }
        }
        var lines: [[ClosedRange<UInt8>]] = (0..<TimecodeLayout.codeRows.upperBound).map { line in
            (0..<TimecodeLayout.columns).flatMap { column in
                let isWhite =
                    line == 0
                    ? TimecodeLayout.isWhiteReference(column: column)
                    : timecode.code >> UInt128(TimecodeLayout.bit(column: column, row: line)) & 1 == 1
                return TimecodeLayout.pixels(column, of: size.width).map { _ in isWhite ? white : black }
            }
        }
        lines.append(sweep(timecode, width: size.width, steps: max(16, rate)))
        for line in lines.indices {
            let top = TimecodeLayout.pixels(line, of: size.height)
            let rows = line == lines.indices.last ? top.lowerBound..<size.height : top
            for y in rows {
                let row = picture.row(y, of: .y)
                for x in 0..<size.width where !lines[line][x].contains(row[x]) { count += 1 }
            }
        }
        return count
    }

    private static let black: ClosedRange<UInt8> = 0...59
    private static let background: ClosedRange<UInt8> = 70...129
    private static let white: ClosedRange<UInt8> = 170...255

    /// A line below the code, which a bar crosses.
    private static func sweep(_ timecode: Timecode, width: Int, steps: Int) -> [ClosedRange<UInt8>] {
        let bar = width / TimecodeLayout.columns
        let left = Int(timecode.frame) % steps * (width - bar) / steps
        return (0..<width).map { left..<left + bar ~= $0 ? white : background }
    }
}

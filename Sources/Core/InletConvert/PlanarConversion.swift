import CYUV
import InletCore

// Unsafe: passes planes to libyuv and to the C functions that average chroma.
/// How three planes of 8-bit samples are converted to I420: luma is copied, and chroma that is finer than in I420 is
/// averaged.
struct PlanarConversion: Sendable {
    /// Whether chroma has a sample for each column.
    var halvesColumns: Bool
    /// Whether chroma has a sample for each row.
    var halvesRows: Bool

    /// Converts a frame whose planes have been checked against its format.
    func convert(_ frame: SourceFrame, into target: I420Target) {
        let size = frame.size
        let (width, height) = (Int32(size.width), Int32(size.height))
        guard let y = frame.planes[0], let u = frame.planes[1], let v = frame.planes[2] else { return }
        unsafe CopyPlane(y.topRow, Int32(y.stride), target.y, target.yStride, width, height)
        unsafe halve(u, of: size, into: target.u, target.uStride)
        unsafe halve(v, of: size, into: target.v, target.vStride)
    }

    /// Halves exactly two to one in each direction; the last of an odd number of rows or columns is averaged
    /// separately, where libyuv's functions for whole pictures would spread all others over it.
    private func halve(
        _ plane: SourcePlane, of size: ImageSize, into target: UnsafeMutablePointer<UInt8>, _ stride: Int32
    ) {
        let columns = Self.spans(of: halvesColumns ? size.width : size.chroma.width, halved: halvesColumns)
        for rows in Self.spans(of: halvesRows ? size.height : size.chroma.height, halved: halvesRows) {
            for columns in columns {
                guard let top = unsafe plane.topRow else { return }
                let source = unsafe top + rows.source * plane.stride + columns.source
                let result = unsafe target + rows.target * Int(stride) + columns.target
                if columns.sourceCount == 1 {
                    // libyuv filters nothing that is one pixel wide.
                    for row in 0..<rows.targetCount {
                        let above = unsafe source + row * rows.step * plane.stride
                        let below = unsafe above + (rows.step - 1) * plane.stride
                        unsafe result[row * Int(stride)] = UInt8((UInt(above.pointee) + UInt(below.pointee) + 1) / 2)
                    }
                } else {
                    unsafe ScalePlane(
                        source, Int32(plane.stride), Int32(columns.sourceCount), Int32(rows.sourceCount),
                        result, stride, Int32(columns.targetCount), Int32(rows.targetCount), kFilterBox)
                }
            }
        }
    }

    /// A run of samples in the source and its result.
    private struct Span {
        var source = 0
        var sourceCount: Int
        var target = 0
        var targetCount: Int
        /// How many samples are averaged into one: 1 or 2.
        var step: Int { sourceCount / targetCount }
    }

    private static func spans(of count: Int, halved: Bool) -> [Span] {
        guard halved else { return [Span(sourceCount: count, targetCount: count)] }
        let pairs = count / 2
        var spans: [Span] = []
        if pairs > 0 { spans.append(Span(sourceCount: 2 * pairs, targetCount: pairs)) }
        if count % 2 != 0 { spans.append(Span(source: 2 * pairs, sourceCount: 1, target: pairs, targetCount: 1)) }
        return spans
    }
}

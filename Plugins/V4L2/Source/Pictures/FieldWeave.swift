import CV4L2
import InletCore

// Unsafe: copies rows of fields into pictures.
/// Copies the rows of fields to every other row of a picture, plane by plane, in the driver's layout.
@safe struct FieldWeave: Sendable {
    /// Consecutive rows in one of the driver's planes, for example those of luma.
    struct Rows: Sendable, Hashable {
        var offset: Int
        var stride: Int
        var count: Int
    }

    /// The rows in each plane of a buffer, which contains a frame with sequential fields, or one field.
    private let source: [[Rows]]
    /// The rows in each plane of a frame.
    private let target: [[Rows]]
    /// The offsets of a frame's planes in its memory, and the end of the last plane.
    private let starts: [Int]

    /// The number of bytes in a frame.
    var byteCount: Int { starts.last ?? 0 }

    /// - Parameter picture: the layout of the pictures, with separate or sequential fields.
    init(_ picture: CapturePicture) {
        source = picture.rows(height: Int(picture.format.height))
        target = picture.rows(height: picture.size.height)
        var starts = [0]
        for plane in target {
            starts.append((starts.last ?? 0) + (plane.map { $0.offset + $0.stride * $0.count }.max() ?? 0))
        }
        self.starts = starts
    }

    /// Returns the planes of a frame in a block.
    @unsafe func planes(of block: PictureBlock) -> [UnsafeRawBufferPointer] {
        unsafe zip(starts, starts.dropFirst()).map { start, end in
            unsafe UnsafeRawBufferPointer(rebasing: block.memory[start..<end])
        }
    }

    /// Copies one field.
    ///
    /// - Parameters:
    ///   - field: a buffer's planes.
    ///   - block: memory of at least ``byteCount`` bytes.
    @unsafe func copy(_ field: [UnsafeRawBufferPointer], _ parity: FieldPairing.Parity, to block: PictureBlock) {
        let first = parity == .top ? 0 : 1
        forEachRow { plane, from, to, row in
            let source = row / 2
            guard row % 2 == first, source < from.count, unsafe plane < field.count else { return }
            unsafe copyRow(field[plane], from, source, to, row, plane, block)
        }
    }

    /// Copies both fields of a buffer.
    ///
    /// - Parameters:
    ///   - fields: the buffer's planes.
    ///   - order: the field order, which determines the field that comes first in the buffer.
    ///   - block: memory of at least ``byteCount`` bytes.
    @unsafe func copy(_ fields: [UnsafeRawBufferPointer], _ order: FieldOrder, to block: PictureBlock) {
        forEachRow { plane, from, to, row in
            guard unsafe plane < fields.count else { return }
            let isOfFirst = (row % 2 == 0) == (order == .topFirst)
            // If the number of rows is odd, the top field has one more.
            let inFirst = order == .topFirst ? (from.count + 1) / 2 : from.count / 2
            unsafe copyRow(fields[plane], from, row / 2 + (isOfFirst ? 0 : inFirst), to, row, plane, block)
        }
    }

    private func forEachRow(_ body: (_ plane: Int, _ from: Rows, _ to: Rows, _ row: Int) -> Void) {
        for plane in 0..<min(source.count, target.count) {
            for (from, to) in zip(source[plane], target[plane]) {
                for row in 0..<to.count { body(plane, from, to, row) }
            }
        }
    }

    /// Copies as much of a row as there is: a driver may leave out the padding after the pixels of the last row.
    @unsafe private func copyRow(
        _ memory: UnsafeRawBufferPointer, _ from: Rows, _ sourceRow: Int, _ to: Rows, _ row: Int, _ plane: Int,
        _ block: PictureBlock
    ) {
        let begin = from.offset + sourceRow * from.stride
        let count = min(from.stride, to.stride, memory.count - begin)
        let place = starts[plane] + to.offset + row * to.stride
        guard count > 0, unsafe place + count <= block.memory.count else { return }
        unsafe UnsafeMutableRawBufferPointer(rebasing: block.memory[place..<place + count])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[begin..<begin + count]))
    }
}

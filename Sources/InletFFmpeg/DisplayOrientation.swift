import CFFmpeg
package import InletCore

// Unsafe: reads a display matrix from libavutil's side data.
/// How a picture must be rotated and mirrored to be seen as it was taken, from a container's or a picture's display
/// matrix.
package struct DisplayOrientation: Sendable, Hashable {
    package var rotation: Rotation
    /// Whether the picture is also mirrored, which ``Rotation`` cannot express.
    package var isMirrored: Bool

    /// Reads a matrix of nine 32-bit numbers as `libavutil/display.h` lays it out; nil if it is shorter or the
    /// identity.
    @unsafe package init?(matrix bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 9 * MemoryLayout<Int32>.size, let base = bytes.baseAddress else { return nil }
        let matrix = unsafe base.assumingMemoryBound(to: Int32.self)
        // libavutil's angle is counterclockwise.
        let angle = unsafe av_display_rotation_get(matrix)
        guard angle.isFinite else { return nil }
        rotation = Rotation(nearestTo: -angle)
        let determinant = unsafe Double(matrix[0]) * Double(matrix[4]) - Double(matrix[1]) * Double(matrix[3])
        isMirrored = determinant < 0
    }
}

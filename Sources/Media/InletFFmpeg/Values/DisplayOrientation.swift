import CFFmpeg
package import InletCore

// Unsafe: reads a display matrix from libavutil's side data.
/// How a picture must be rotated and mirrored to be seen as it was taken, from a container's or a picture's display
/// matrix.
package struct DisplayOrientation: Sendable, Hashable {
    /// The clockwise rotation, after the flip of a mirrored picture.
    package var rotation: Rotation
    /// Whether the picture is flipped vertically before the rotation.
    package var isMirrored: Bool

    package init(rotation: Rotation, isMirrored: Bool) {
        self.rotation = rotation
        self.isMirrored = isMirrored
    }

    /// Reads a matrix of nine 32-bit numbers as `libavutil/display.h` lays it out; nil if it is shorter or the
    /// identity.
    @unsafe package init?(matrix bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 9 * MemoryLayout<Int32>.size, let base = bytes.baseAddress else { return nil }
        let matrix = unsafe base.assumingMemoryBound(to: Int32.self)
        // libavutil's angle is counterclockwise. It is that of the first row, to which a vertical flip makes no
        // difference: the flip negates the second.
        let angle = unsafe av_display_rotation_get(matrix)
        guard angle.isFinite else { return nil }
        rotation = Rotation(nearestTo: -angle)
        let determinant = unsafe Double(matrix[0]) * Double(matrix[4]) - Double(matrix[1]) * Double(matrix[3])
        isMirrored = determinant < 0
    }

    /// Writes the matrix of the orientation, nine 32-bit numbers.
    @unsafe package func write(to matrix: UnsafeMutablePointer<Int32>) {
        unsafe av_display_rotation_set(matrix, Double(rotation.rawValue))
        guard isMirrored else { return }
        unsafe (matrix[3], matrix[4]) = unsafe (0 &- matrix[3], 0 &- matrix[4])
    }
}

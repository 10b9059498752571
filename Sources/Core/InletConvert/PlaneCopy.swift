import InletCore

// Unsafe: owns the memory of a plane's copy.
/// Memory for a copy of one plane, for the few that libswscale cannot read in place.
///
/// Each row is followed by a repetition of its last pixel, and the last row by ``SwscaleContext/readAhead`` bytes. Used
/// by one thread at a time, as the ``SwscaleContext`` that holds it is.
@safe final class PlaneCopy {
    let stride: Int
    private let rows: Int
    private let rowBytes: Int
    private let pixelBytes: Int
    private let memory: UnsafeMutableRawBufferPointer

    /// - Parameter pixelBytes: the size of the pixel to repeat; at most 16 and not more than a row.
    init(rows: Int, rowBytes: Int, pixelBytes: Int) {
        self.rows = rows
        self.rowBytes = rowBytes
        self.pixelBytes = pixelBytes
        stride = (rowBytes + pixelBytes + 63) / 64 * 64
        unsafe memory = .allocate(byteCount: stride * rows + SwscaleContext.readAhead, alignment: 64)
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit { unsafe memory.deallocate() }

    /// Copies a plane that holds `rows` rows of `rowBytes` bytes, and returns the start of the copy, which is stored
    /// top down.
    func fill(from plane: SourcePlane) -> UnsafePointer<UInt8>? {
        guard let top = unsafe plane.topRow, let base = unsafe memory.baseAddress else { return nil }
        for row in 0..<rows {
            let target = unsafe base + row * stride
            unsafe target.copyMemory(from: top + row * plane.stride, byteCount: rowBytes)
            let end = unsafe target + rowBytes
            unsafe end.copyMemory(from: end - pixelBytes, byteCount: pixelBytes)
        }
        return unsafe UnsafePointer(base.assumingMemoryBound(to: UInt8.self))
    }
}

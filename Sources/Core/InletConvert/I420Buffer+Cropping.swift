public import InletCore

// Unsafe: points to a part of a picture that the new buffer keeps alive.
extension I420Buffer {
    /// Returns a part of the picture in the same memory: only pointers move. The part keeps the whole picture alive.
    ///
    /// Returns the same buffer if the part is all of it.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if the part does not lie within the picture, or begins at an
    ///   odd column or row, in the middle of a chroma sample.
    public func cropped(to rect: ImageRect) throws(InletError) -> I420Buffer {
        guard rect.lies(in: size) else {
            throw InletError(.invalidConfiguration, "The part \(rect) does not lie within a picture of \(size).")
        }
        guard rect.startsOnChroma else {
            throw InletError(
                .invalidConfiguration,
                "The part \(rect) begins in the middle of a chroma sample. Cut at even columns and rows.")
        }
        if rect.size == size { return self }
        func part(_ plane: Plane) -> UnsafeRawBufferPointer {
            let shift = plane == .y ? 0 : 1
            let start = unsafe baseAddress(of: plane) + (rect.y >> shift) * strides[plane] + (rect.x >> shift)
            let rows = Self.rows(of: plane, in: rect.size)
            // A rectangle within the picture ends where the picture's plane ends, or before.
            return unsafe UnsafeRawBufferPointer(
                start: start, count: strides[plane] * (rows.height - 1) + rows.width)
        }
        return try unsafe I420Buffer(
            size: rect.size, y: part(.y), u: part(.u), v: part(.v), strides: strides, owner: self)
    }
}

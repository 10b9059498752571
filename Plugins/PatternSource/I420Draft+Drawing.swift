import InletCore

extension I420Draft {
    /// Fills a rectangle of one plane.
    ///
    /// - Precondition: the rectangle lies within the plane.
    mutating func fill(_ plane: I420Buffer.Plane, columns: Range<Int>, rows: Range<Int>, with value: UInt8) {
        let bounds = I420Buffer.rows(of: plane, in: size)
        precondition(
            columns.lowerBound >= 0 && columns.upperBound <= bounds.width && rows.lowerBound >= 0
                && rows.upperBound <= bounds.height, "columns \(columns), rows \(rows) of a plane of \(bounds)")
        let stride = strides[plane]
        let base = unsafe mutableBaseAddress(of: plane)
        for row in rows {
            unsafe (base + row * stride + columns.lowerBound).update(repeating: value, count: columns.count)
        }
    }

    /// Fills a rectangle with a colour. A chroma sample that only part of the rectangle covers belongs to it where its top left
    /// pixel does.
    mutating func fill(columns: Range<Int>, rows: Range<Int>, with color: YUVColor) {
        func halved(_ range: Range<Int>) -> Range<Int> { (range.lowerBound + 1) / 2..<(range.upperBound + 1) / 2 }
        fill(.y, columns: columns, rows: rows, with: color.y)
        fill(.u, columns: halved(columns), rows: halved(rows), with: color.u)
        fill(.v, columns: halved(columns), rows: halved(rows), with: color.v)
    }

    /// Fills a plane row by row with words of eight bytes, the least significant at the left.
    @inline(__always)
    mutating func fill(_ plane: I420Buffer.Plane, words: () -> UInt64) {
        let bounds = I420Buffer.rows(of: plane, in: size)
        let stride = strides[plane]
        let base = unsafe UnsafeMutableRawPointer(mutableBaseAddress(of: plane))
        for row in 0..<bounds.height {
            let line = unsafe base + row * stride
            var offset = 0
            while offset + 8 <= bounds.width {
                unsafe line.storeBytes(of: words().littleEndian, toByteOffset: offset, as: UInt64.self)
                offset += 8
            }
            var rest = words()
            while offset < bounds.width {
                unsafe line.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: offset, as: UInt8.self)
                rest >>= 8
                offset += 1
            }
        }
    }
}

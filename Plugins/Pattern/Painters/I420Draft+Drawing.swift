import InletCore

// Unsafe: fills rows of a draft through pointers.
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

    /// Fills a rectangle with a colour. A chroma sample that the rectangle covers partly is filled if the rectangle
    /// covers its top left pixel.
    mutating func fill(columns: Range<Int>, rows: Range<Int>, with color: YUVColor) {
        func halved(_ range: Range<Int>) -> Range<Int> { (range.lowerBound + 1) / 2..<(range.upperBound + 1) / 2 }
        fill(.y, columns: columns, rows: rows, with: color.y)
        fill(.u, columns: halved(columns), rows: halved(rows), with: color.u)
        fill(.v, columns: halved(columns), rows: halved(rows), with: color.v)
    }

    /// Copies columns of one row to other rows.
    ///
    /// - Precondition: all of them lie within the plane.
    mutating func copy(_ plane: I420Buffer.Plane, row: Int, columns: Range<Int>, to rows: some Sequence<Int>) {
        let bounds = I420Buffer.rows(of: plane, in: size)
        precondition(
            columns.lowerBound >= 0 && columns.upperBound <= bounds.width && (0..<bounds.height).contains(row),
            "columns \(columns) of row \(row) of a plane of \(bounds)")
        let stride = strides[plane]
        let base = unsafe mutableBaseAddress(of: plane) + columns.lowerBound
        for target in rows where target != row {
            precondition((0..<bounds.height).contains(target), "row \(target) of a plane of \(bounds)")
            unsafe (base + target * stride).update(from: base + row * stride, count: columns.count)
        }
    }

    /// Fills a plane row by row with random numbers, eight bytes at a time, the least significant byte at the left.
    ///
    /// - Parameter transform: applied to each group of eight bytes.
    @inline(__always)
    mutating func fill(
        _ plane: I420Buffer.Plane, with numbers: inout SplitMix64, transform: (UInt64) -> UInt64
    ) {
        let bounds = I420Buffer.rows(of: plane, in: size)
        let stride = strides[plane]
        let base = unsafe mutableBaseAddress(of: plane)
        let wordCount = bounds.width / 8
        for row in 0..<bounds.height {
            let line = unsafe base + row * stride
            // Rows begin at multiples of 64 bytes.
            unsafe line.withMemoryRebound(to: UInt64.self, capacity: wordCount) { words in
                for index in 0..<wordCount { unsafe words[index] = transform(numbers.next()).littleEndian }
            }
            var rest = transform(numbers.next())
            for column in wordCount * 8..<bounds.width {
                unsafe line[column] = UInt8(truncatingIfNeeded: rest)
                rest >>= 8
            }
        }
    }
}

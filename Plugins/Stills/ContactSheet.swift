public import InletCore

/// A picture that shows small pictures in rows and columns.
///
///     var sheet = try ContactSheet(columns: 4, rows: 3, tile: ImageSize(width: 320, height: 180))
///     for frame in frames { sheet.add(frame) }
///     let picture = sheet.finish()
///
/// A picture that is larger than a tile is cropped at the right and bottom; scale it first, for example with
/// ``SinkWants/largestSize``. A smaller picture is centred at even pixels.
public struct ContactSheet: ~Copyable {
    /// The number of pictures that fit.
    public let capacity: Int
    /// The number of pictures so far.
    public private(set) var count = 0
    private let columns: Int
    private let tile: ImageSize
    private var draft: I420Draft
    private var isFilled = false

    /// Creates an empty sheet.
    ///
    /// - Parameters:
    ///   - columns: pictures side by side, 1 to 64.
    ///   - rows: rows of pictures, 1 to 64.
    ///   - tile: the size of a picture with its border, rounded down to even numbers.
    /// - Throws: ``InletError/Code/invalidConfiguration`` if there is no tile or the sheet would be too large for a
    ///   picture.
    public init(columns: Int, rows: Int, tile: ImageSize) throws(InletError) {
        let tile = ImageSize(width: tile.width & ~1, height: tile.height & ~1)
        guard (1...64).contains(columns), (1...64).contains(rows), tile.isValid else {
            throw InletError(
                .invalidConfiguration, "Invalid contact sheet. It has 1x1 to 64x64 pictures of at least 2x2 pixels.")
        }
        draft = try I420Draft(size: ImageSize(width: columns * tile.width, height: rows * tile.height))
        self.columns = columns
        self.tile = tile
        capacity = columns * rows
    }

    /// Adds a frame's picture. Does nothing if the sheet is full.
    public mutating func add(_ frame: VideoFrame) {
        guard count < capacity else { return }
        if !isFilled {
            draft.fill(y: frame.colorSpace.range == .full ? 0 : 16, u: 128, v: 128)
            isFilled = true
        }
        let picture = frame.buffer
        // Even offsets keep chroma samples aligned.
        let left = count % columns * tile.width + max(0, (tile.width - picture.size.width) / 4 * 2)
        let top = count / columns * tile.height + max(0, (tile.height - picture.size.height) / 4 * 2)
        count += 1
        for plane in I420Buffer.Plane.allCases {
            let scale = plane == .y ? 1 : 2
            let rows = I420Buffer.rows(of: plane, in: picture.size)
            let (width, height) = (min(rows.width, tile.width / scale), min(rows.height, tile.height / scale))
            let stride = draft.strides[plane]
            var target = draft.mutableBytes(of: plane)
            for row in 0..<height {
                let pixels = picture.row(row, of: plane)
                let start = (top / scale + row) * stride + left / scale
                for column in 0..<width { target[start + column] = pixels[column] }
            }
        }
    }

    /// Returns the sheet. Unused tiles are black.
    public consuming func finish() -> I420Buffer {
        if !isFilled { draft.fillBlack() }
        return draft.publish()
    }
}

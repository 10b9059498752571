/// A part of a picture, in pixels from its top left corner.
public struct ImageRect: Sendable, Hashable {
    /// The column of the left edge.
    public var x: Int
    /// The row of the upper edge.
    public var y: Int
    /// The size of the part.
    public var size: ImageSize

    public init(x: Int, y: Int, size: ImageSize) {
        self.x = x
        self.y = y
        self.size = size
    }

    /// Makes a part from its top left corner and its size.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.init(x: x, y: y, size: ImageSize(width: width, height: height))
    }

    /// Whether the part has pixels, and all of them lie within a picture of `picture`'s size.
    public func lies(in picture: ImageSize) -> Bool {
        x >= 0 && y >= 0 && size.width > 0 && size.height > 0
            && size.width <= picture.width && size.height <= picture.height
            && x <= picture.width - size.width && y <= picture.height - size.height
    }

    /// Whether the corner falls on the corner of a chroma sample, so that a 4:2:0 picture can be cut there by moving
    /// pointers.
    public var startsOnChroma: Bool { x.isMultiple(of: 2) && y.isMultiple(of: 2) }
}

extension ImageRect: CustomStringConvertible {
    /// The size, and the distances from the left and from the top, such as `640x480+16+0`.
    public var description: String { "\(size)+\(x)+\(y)" }
}

/// A width and a height in pixels.
public struct ImageSize: Sendable, Hashable {
    /// Pixels in a row.
    public var width: Int
    /// The number of rows.
    public var height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The size of the U and V planes of a 4:2:0 picture: half in each direction, rounded up.
    public var chroma: ImageSize { ImageSize(width: width / 2 + width % 2, height: height / 2 + height % 2) }

    /// The size after a quarter turn.
    public var transposed: ImageSize { ImageSize(width: height, height: width) }

    /// Whether a picture of this size is at most as wide and as high as the other.
    public func fits(in other: ImageSize) -> Bool { width <= other.width && height <= other.height }

    /// The bytes of an I420 picture of this size without padding, clamped to 64 bits.
    public var packedI420ByteCount: Int {
        pixelCount.adding(saturating: chroma.pixelCount.multiplied(saturatingBy: 2))
    }

    /// Width times height, clamped to 64 bits.
    package var pixelCount: Int { width.multiplied(saturatingBy: height) }

    /// The largest width or height that Inlet handles. libyuv and libswscale take sizes as 32-bit numbers and
    /// multiply them by pixel sizes; 32,768 keeps every such product within 32 bits.
    public static let maximumDimension = 32_768

    /// Whether Inlet can handle a picture of this size.
    public var isValid: Bool {
        (1...Self.maximumDimension).contains(width) && (1...Self.maximumDimension).contains(height)
    }
}

extension ImageSize: CustomStringConvertible {
    /// The size as text, such as `1280x720`.
    public var description: String { "\(width)x\(height)" }
}

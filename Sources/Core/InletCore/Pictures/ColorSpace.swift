/// How to interpret the samples of a picture as colour: the four properties that ITU-T H.273 defines.
///
/// Converting a picture to I420 never changes its range or matrix unless it has to (RGB has no matrix); the frame
/// carries them, and code that shows or encodes it must pass them on.
public struct ColorSpace: Sendable, Hashable {
    /// The red, green and blue that the samples refer to.
    public var primaries: ColorPrimaries
    /// How samples relate to light.
    public var transfer: TransferCharacteristics
    /// How luma and chroma are derived from red, green and blue.
    public var matrix: ColorMatrix
    /// Whether black is 16 or 0.
    public var range: ColorRange

    /// Makes a colour space. The default of each property is unspecified.
    public init(
        primaries: ColorPrimaries = .unspecified, transfer: TransferCharacteristics = .unspecified,
        matrix: ColorMatrix = .unspecified, range: ColorRange = .unspecified
    ) {
        self.primaries = primaries
        self.transfer = transfer
        self.matrix = matrix
        self.range = range
    }

    /// Returns the colour space that players assume if a picture states none: limited range, and the matrix of BT.709
    /// from 1280 columns or 577 lines up, else that of BT.601.
    ///
    /// mpv decides by both, VLC by the lines. Frames that are scaled or rotated on their way carry the matrix of the
    /// picture they were made from.
    ///
    /// - Parameter size: the size of the picture as the source gave it.
    public func assumed(for size: ImageSize) -> ColorSpace {
        var known = self
        if matrix == .unspecified { known.matrix = size.width >= 1280 || size.height > 576 ? .bt709 : .smpte170m }
        if range == .unspecified { known.range = .limited }
        return known
    }

    /// The source stated nothing about its colour.
    public static let unspecified = ColorSpace()
    /// Standard-definition video: BT.601 matrix, limited range.
    public static let bt601 = ColorSpace(
        primaries: .smpte170m, transfer: .smpte170m, matrix: .smpte170m, range: .limited)
    /// High-definition video: BT.709, limited range.
    public static let bt709 = ColorSpace(primaries: .bt709, transfer: .bt709, matrix: .bt709, range: .limited)
}

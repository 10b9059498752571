/// What the numbers in a picture mean as colour: the four facts that ITU-T H.273 keeps.
///
/// Converting a picture to I420 never changes its range or matrix unless it has to (RGB has no matrix); the
/// frame carries them, and whoever shows or encodes it must pass them on.
public struct ColorSpace: Sendable, Hashable {
    /// Which red, green and blue the numbers mix.
    public var primaries: ColorPrimaries
    /// How numbers follow light.
    public var transfer: TransferCharacteristics
    /// How luma and chroma are made of red, green and blue.
    public var matrix: ColorMatrix
    /// Whether black is 16 or 0.
    public var range: ColorRange

    /// The default of each is unspecified.
    public init(
        primaries: ColorPrimaries = .unspecified, transfer: TransferCharacteristics = .unspecified,
        matrix: ColorMatrix = .unspecified, range: ColorRange = .unspecified
    ) {
        self.primaries = primaries
        self.transfer = transfer
        self.matrix = matrix
        self.range = range
    }

    /// What players take a picture for where it says nothing: limited range, and the matrix of BT.709 from 1280 columns
    /// or 577 lines up, else that of BT.601.
    ///
    /// mpv draws the line at both, VLC at the lines. Frames that are scaled or turned on their way carry the matrix
    /// that counts for what they were made of.
    ///
    /// - Parameter size: of the picture as the source gave it.
    public func assumed(for size: ImageSize) -> ColorSpace {
        var known = self
        if matrix == .unspecified { known.matrix = size.width >= 1280 || size.height > 576 ? .bt709 : .smpte170m }
        if range == .unspecified { known.range = .limited }
        return known
    }

    /// The source said nothing of its colour.
    public static let unspecified = ColorSpace()
    /// Standard-definition video: BT.601 matrix, limited range.
    public static let bt601 = ColorSpace(
        primaries: .smpte170m, transfer: .smpte170m, matrix: .smpte170m, range: .limited)
    /// High-definition video: BT.709, limited range.
    public static let bt709 = ColorSpace(primaries: .bt709, transfer: .bt709, matrix: .bt709, range: .limited)
}

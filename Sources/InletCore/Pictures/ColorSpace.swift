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

    /// What players take a picture for where it says nothing: limited range, and the matrix of BT.709 from 1280 columns or 577 lines up, else that of BT.601.
    ///
    /// mpv draws the line at both, VLC at the lines. Frames that are scaled or turned on their way carry the matrix that counts for what they were made of.
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

/// Whether luma uses 16-235 (limited, "TV") or 0-255 (full, "PC").
public enum ColorRange: String, Sendable, Hashable, CaseIterable {
    /// The source did not say. Video is limited by convention.
    case unspecified = "unknown"
    case limited = "tv"
    case full = "pc"
}

/// Matrix coefficients by their code in ITU-T H.273, table 4. Any code can be carried.
public struct ColorMatrix: RawRepresentable, Sendable, Hashable {
    /// The code in the table.
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Red, green and blue themselves.
    public static let identity = Self(rawValue: 0)
    /// BT.709: high-definition video.
    public static let bt709 = Self(rawValue: 1)
    /// The source did not say.
    public static let unspecified = Self(rawValue: 2)
    /// FCC title 47, section 73.682: NTSC of 1953.
    public static let fcc = Self(rawValue: 4)
    /// BT.601 with 625 lines.
    public static let bt470bg = Self(rawValue: 5)
    /// BT.601 with 525 lines; the same coefficients as ``bt470bg``.
    public static let smpte170m = Self(rawValue: 6)
    /// SMPTE 240M: early high definition.
    public static let smpte240m = Self(rawValue: 7)
    /// BT.2020, non-constant luminance.
    public static let bt2020 = Self(rawValue: 9)
}

/// Colour primaries by their code in ITU-T H.273, table 2. Any code can be carried.
public struct ColorPrimaries: RawRepresentable, Sendable, Hashable {
    /// The code in the table.
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// BT.709: high-definition video.
    public static let bt709 = Self(rawValue: 1)
    /// The source did not say.
    public static let unspecified = Self(rawValue: 2)
    /// BT.601 with 625 lines.
    public static let bt470bg = Self(rawValue: 5)
    /// BT.601 with 525 lines.
    public static let smpte170m = Self(rawValue: 6)
    /// BT.2020: ultra-high definition.
    public static let bt2020 = Self(rawValue: 9)
}

/// Transfer characteristics by their code in ITU-T H.273, table 3. Any code can be carried.
public struct TransferCharacteristics: RawRepresentable, Sendable, Hashable {
    /// The code in the table.
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// BT.709: high-definition video.
    public static let bt709 = Self(rawValue: 1)
    /// The source did not say.
    public static let unspecified = Self(rawValue: 2)
    /// BT.601 with 525 lines.
    public static let smpte170m = Self(rawValue: 6)
    /// IEC 61966-2-1, "sRGB".
    public static let srgb = Self(rawValue: 13)
    /// SMPTE ST 2084, "PQ".
    public static let pq = Self(rawValue: 16)
    /// ARIB STD-B67, "HLG".
    public static let hlg = Self(rawValue: 18)
}

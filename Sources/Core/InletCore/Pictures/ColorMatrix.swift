/// Matrix coefficients by their code in ITU-T H.273, table 4. Any code can be carried.
public struct ColorMatrix: RawRepresentable, Sendable, Hashable {
    /// The code in the table.
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Red, green and blue themselves.
    public static let identity = Self(rawValue: 0)
    /// BT.709: high-definition video.
    public static let bt709 = Self(rawValue: 1)
    /// The source did not state it.
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

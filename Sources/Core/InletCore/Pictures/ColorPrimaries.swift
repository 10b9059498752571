/// Colour primaries by their code in ITU-T H.273, table 2. Any code can be carried.
public struct ColorPrimaries: RawRepresentable, Sendable, Hashable {
    /// The code in the table.
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// BT.709: high-definition video.
    public static let bt709 = Self(rawValue: 1)
    /// The source did not state them.
    public static let unspecified = Self(rawValue: 2)
    /// BT.601 with 625 lines.
    public static let bt470bg = Self(rawValue: 5)
    /// BT.601 with 525 lines.
    public static let smpte170m = Self(rawValue: 6)
    /// BT.2020: ultra-high definition.
    public static let bt2020 = Self(rawValue: 9)
}

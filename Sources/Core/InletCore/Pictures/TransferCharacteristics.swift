/// Transfer characteristics by their code in ITU-T H.273, table 3. Any code can be carried.
public struct TransferCharacteristics: RawRepresentable, Sendable, Hashable {
    /// The code in the table.
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// BT.709: high-definition video.
    public static let bt709 = Self(rawValue: 1)
    /// The source did not state them.
    public static let unspecified = Self(rawValue: 2)
    /// BT.601 with 525 lines.
    public static let smpte170m = Self(rawValue: 6)
    /// IEC 61966-2-1, "sRGB".
    public static let srgb = Self(rawValue: 13)
    /// SMPTE ST 2084, "PQ".
    public static let pq = Self(rawValue: 16)
    /// ARIB STD-B67, "HLG".
    public static let hlg = Self(rawValue: 18)

    /// The name of the transfer characteristics if they are those of high dynamic range (HDR), `PQ` or `HLG`; nil if
    /// they are not.
    public var highDynamicRangeName: String? {
        switch self {
        case .pq: "PQ"
        case .hlg: "HLG"
        default: nil
        }
    }
}

/// Filters that change the content of pictures before they are converted to I420.
public struct PictureFilters: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Makes whole pictures of interlaced ones. Others are unchanged.
    public static let deinterlacing = Self(rawValue: 1)

    /// Maps the tones of pictures of high dynamic range (PQ, HLG) to BT.709 of limited range. Others are unchanged.
    public static let toneMapping = Self(rawValue: 2)

    /// Every filter.
    public static let all: Self = [.deinterlacing, .toneMapping]

    /// The filters that change a picture.
    package static func changing(_ picture: SourceFrame) -> Self {
        var filters: Self = picture.fieldOrder == .progressive ? [] : .deinterlacing
        if picture.colorSpace.transfer.highDynamicRangeName != nil { filters.insert(.toneMapping) }
        return filters
    }
}

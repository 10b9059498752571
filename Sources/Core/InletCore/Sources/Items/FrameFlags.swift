/// Facts about one frame.
public struct FrameFlags: OptionSet, Sendable, Hashable {
    /// The bits, one for each fact.
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Decodes without any frame before it.
    public static let key = FrameFlags(rawValue: 1 << 0)
    /// The data was damaged; the picture may show it.
    public static let corrupt = FrameFlags(rawValue: 1 << 1)
    /// The timeline restarts here: PTS before and after are unrelated.
    public static let discontinuity = FrameFlags(rawValue: 1 << 2)
    /// Not the source's picture: the bridge fills an outage with it.
    public static let placeholder = FrameFlags(rawValue: 1 << 3)
}

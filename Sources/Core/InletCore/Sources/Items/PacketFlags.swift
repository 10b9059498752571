/// Facts about one packet.
public struct PacketFlags: OptionSet, Sendable, Hashable {
    /// The bits, one for each fact.
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Decodes without any packet before it.
    public static let key = PacketFlags(rawValue: 1 << 0)
    /// The timeline restarts here: times before and after are unrelated.
    public static let discontinuity = PacketFlags(rawValue: 1 << 1)
    /// Data was lost: a part of this packet, or packets before it.
    public static let loss = PacketFlags(rawValue: 1 << 2)
    /// Decoding restarts here, and nothing was lost: a file that is played again. Pictures of earlier packets are
    /// output first.
    public static let restart = PacketFlags(rawValue: 1 << 3)
    /// The picture is decoded only for others and never shown, as before the beginning of an MP4 edit list.
    public static let hidden = PacketFlags(rawValue: 1 << 4)
}

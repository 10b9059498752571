/// A compressed packet as a source read it: one whole access unit.
///
/// A value that shares its bytes. Packets come in decoding order and are not numbered. A source that yields pictures,
/// too, yields a packet only while ``SourceDemand/packets`` is true.
public struct SourcePacket: Sendable {
    /// What the stream's packets are, in the time base of ``pts``. They hold the parameter sets that are not in the
    /// data.
    public var parameters: CodecParameters
    /// The compressed data.
    public var data: PacketData
    /// When the picture is shown, on the source's own timeline. Nil where the source has no times: the packet is then
    /// placed by its arrival.
    public var pts: MediaTime?
    /// When the packet is decoded, in the same time base. Nil where ``pts`` is.
    public var dts: MediaTime?
    /// How long the picture is shown; nil where the source does not know.
    public var duration: MediaTime?
    /// Facts about this packet. The default is none.
    public var flags: PacketFlags
    /// When the device exposed or read out the picture, where it says. The default is nil.
    public var captureTime: MonotonicTime?
    /// When the packet had arrived whole, for a source that hands packets on later than that. The default is nil: now.
    public var receiveTime: MonotonicTime?
    /// The time of day at which the picture was taken, in nanoseconds since 1970, where the source knows (RTCP sender
    /// reports).
    public var wallClock: Int64?

    public init(
        parameters: CodecParameters, data: PacketData, pts: MediaTime?, dts: MediaTime?, duration: MediaTime? = nil,
        flags: PacketFlags = []
    ) {
        self.parameters = parameters
        self.data = data
        self.pts = pts
        self.dts = dts
        self.duration = duration
        self.flags = flags
    }

    /// Whether it decodes without any packet before it.
    public var isKey: Bool { flags.contains(.key) }
}

/// Facts about one packet.
public struct PacketFlags: OptionSet, Sendable, Hashable {
    /// One bit a fact.
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Decodes without any packet before it.
    public static let key = PacketFlags(rawValue: 1 << 0)
    /// The timeline starts anew here: times before and after are unrelated.
    public static let discontinuity = PacketFlags(rawValue: 1 << 1)
    /// Data was lost: a part of this packet, or packets before it.
    public static let loss = PacketFlags(rawValue: 1 << 2)
    /// Decoding begins anew here, and nothing was lost: a file that is played again. What was sent before comes out
    /// first.
    public static let restart = PacketFlags(rawValue: 1 << 3)
}

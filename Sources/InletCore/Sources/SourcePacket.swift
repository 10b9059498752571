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

/// A compressed packet as a source read it: one whole access unit.
///
/// A value that shares its bytes. Packets arrive in decoding order and are not numbered. A source that also yields
/// pictures yields packets only while ``SourceDemand/packets`` is true.
public struct SourcePacket: Sendable {
    /// The parameters of the stream's packets, in the time base of ``pts``. They hold the parameter sets that are not
    /// in the data.
    public var parameters: CodecParameters
    /// The compressed data.
    public var data: PacketData
    /// The time at which the picture is shown, on the source's own timeline; nil if the source has no times: the packet
    /// is then placed by its arrival.
    public var pts: MediaTime?
    /// The time at which the packet is decoded, in the same time base; nil if ``pts`` is.
    public var dts: MediaTime?
    /// The time for which the picture is shown; nil if unknown.
    public var duration: MediaTime?
    /// Facts about this packet. Empty by default.
    public var flags: PacketFlags
    /// The time at which the device exposed or read out the picture, if it reports that, or when a packet of a
    /// recording that is played at its own speed was due (``SourcePacing/realtime``). The default is nil.
    public var captureTime: MonotonicTime?
    /// The time at which the whole packet had arrived, for a source that hands packets on later than that. The default,
    /// nil, means now.
    public var receiveTime: MonotonicTime?
    /// The time of day at which the picture was taken, in nanoseconds since 1970, if the source knows it (RTCP sender
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

    /// Whether the packet decodes without any packet before it.
    public var isKey: Bool { flags.contains(.key) }
}

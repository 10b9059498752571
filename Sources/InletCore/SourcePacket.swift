/// A compressed packet as a source read it, for sinks that take packets as they are.
public struct SourcePacket: Sendable {
    /// What the stream's packets are, in the time base of ``pts``.
    public var parameters: CodecParameters
    /// The compressed data.
    public var data: PacketData
    /// When the picture is shown, on the source's own timeline. Nil where the source has no times: the packet is then placed by its arrival.
    public var pts: MediaTime?
    /// When it is decoded. Nil where ``pts`` is.
    public var dts: MediaTime?
    /// How long it is shown, where the source knows.
    public var duration: MediaTime?
    /// Decodes without any packet before it.
    public var isKey: Bool
    /// When it was read, for a source that hands packets on later than that. The default is nil: now.
    public var receiveTime: MonotonicTime?

    public init(
        parameters: CodecParameters, data: PacketData, pts: MediaTime?, dts: MediaTime?, duration: MediaTime? = nil,
        isKey: Bool
    ) {
        self.parameters = parameters
        self.data = data
        self.pts = pts
        self.dts = dts
        self.duration = duration
        self.isKey = isKey
    }
}

extension SourceFrame {
    /// A packet that was not decoded, in the place of a picture. Yield one only while ``SourceDemand/packets`` is true.
    ///
    /// - Parameter sequence: that of the picture to come: packets are not counted.
    public init(_ packet: SourcePacket, sequence: UInt64) {
        self.init(
            pixelFormat: packet.parameters.pixelFormat, size: packet.parameters.size, planes: SourcePlanes(),
            owner: NoPixels.shared, pts: packet.dts, duration: packet.duration, sequence: sequence,
            flags: packet.isKey ? .key : [])
        self.packet = packet
        receiveTime = packet.receiveTime
    }
}

/// Stands for the owner of pixels where there are none.
private final class NoPixels: Sendable {
    static let shared = NoPixels()
}

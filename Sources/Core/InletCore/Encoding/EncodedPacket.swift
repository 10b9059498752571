/// A compressed picture, with its place on the timeline.
///
/// A value that shares its bytes. Keep it as long as needed, on any thread.
public struct EncodedPacket: Sendable {
    /// The compressed data.
    public var data: PacketData
    /// The time at which the picture is shown, on the stream's own timeline, in the time base of its
    /// ``CodecParameters``.
    public var pts: MediaTime
    /// The time at which the picture is decoded, in the same time base: never later than ``pts``, and greater from
    /// packet to packet.
    public var dts: MediaTime
    /// The time for which the picture is shown, if known.
    public var duration: MediaTime?
    /// Whether it decodes without any packet before it. No later packet needs an earlier one. The exception is packets
    /// that a source hands on unchanged: pictures that are decoded later and shown earlier may need one.
    public var isKey: Bool
    /// The time at which the picture was taken, on the capture timeline; for packets that a source hands on as they
    /// are, when it is to be shown on that timeline.
    public var captureTime: MonotonicTime
    /// The time of day at which the picture was taken, in nanoseconds since 1970, if the source states it. The default
    /// is nil.
    public var wallClock: Int64?

    public init(
        data: PacketData, pts: MediaTime, dts: MediaTime, duration: MediaTime? = nil, isKey: Bool,
        captureTime: MonotonicTime, wallClock: Int64? = nil
    ) {
        self.wallClock = wallClock
        self.data = data
        self.pts = pts
        self.dts = dts
        self.duration = duration
        self.isKey = isKey
        self.captureTime = captureTime
    }
}

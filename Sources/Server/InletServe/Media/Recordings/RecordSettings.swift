/// The settings of recordings on request: how a camera is recorded, and how much is kept.
package struct RecordSettings: Sendable, Hashable {
    /// The folder that contains a folder for each camera; nil, the default, to disable recording on request.
    package var folder: String?
    /// How long before the request a recording begins. It begins at the preceding key frame. The default is 10 seconds.
    package var before = Duration.seconds(10)
    /// How long after the request a recording ends, if the request has no time. The default is 30 seconds.
    package var after = Duration.seconds(30)
    /// The longest recording. A longer one is ended. The default is an hour.
    package var longest = Duration.seconds(3600)
    /// The maximum number of bytes of packets that are kept in memory. The default is 32 MiB.
    package var memory = 32 << 20
    /// The maximum size of all recordings of the camera in bytes. Above it, the oldest are deleted. The default is
    /// 10 GB.
    package var keptSize = 10_000_000_000
    /// The kinds of events that start or extend a recording. Empty by default.
    package var events: Set<String> = []

    package init() {}

    /// The limits of the packets in memory.
    var history: PacketHistory.Limits {
        PacketHistory.Limits(duration: folder == nil ? .zero : before, bytes: memory)
    }
}

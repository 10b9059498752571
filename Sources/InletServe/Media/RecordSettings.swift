/// How a camera is recorded on request, and what is kept.
package struct RecordSettings: Sendable, Hashable {
    /// The folder in which each camera has one of its own; nil if nothing is recorded on request, which is the default.
    package var folder: String?
    /// How long before the request a recording begins, at the key frame before. The default is 10 seconds.
    package var before = Duration.seconds(10)
    /// How long after the request it ends, unless the request says. The default is 30 seconds.
    package var after = Duration.seconds(30)
    /// The longest recording; a longer one is ended. The default is an hour.
    package var longest = Duration.seconds(3600)
    /// The most bytes of packets that are kept in memory. The default is 32 MiB.
    package var memory = 32 << 20
    /// The most bytes of all recordings of the camera, above which the oldest are deleted. The default is 10 GB.
    package var keptSize = 10_000_000_000
    /// The kinds of events that begin a recording, or make it longer. The default is none.
    package var events: Set<String> = []

    package init() {}

    /// What is kept in memory.
    var history: PacketHistory.Limits {
        PacketHistory.Limits(duration: folder == nil ? .zero : before, bytes: memory)
    }
}

/// What happens to frames that come faster than a sink takes them.
public enum QueuePolicy: Sendable, Hashable {
    /// One frame waits, and a newer one takes its place: the sink always gets the newest. The default for live sources.
    case latest
    /// Up to `count` frames wait; when there is no room, the oldest waiting frame or the newest is dropped.
    case buffered(_ count: Int, dropping: Dropped)
    /// No frame is dropped: when `count` frames wait, the source waits too, and with it every other sink. The default for files,
    /// with ``defaultLosslessCount``.
    case lossless(_ count: Int = QueuePolicy.defaultLosslessCount)

    /// Which frame gives way.
    public enum Dropped: String, Sendable, Hashable, CaseIterable {
        case oldest
        case newest
    }

    /// Enough that a sink's short pauses do not stop the decoder, few enough that little memory waits: 4 frames.
    public static let defaultLosslessCount = 4

    /// The most frames that can wait; at least 1.
    public var capacity: Int {
        switch self {
        case .latest: 1
        case .buffered(let count, _), .lossless(let count): max(1, count)
        }
    }
}

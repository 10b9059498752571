import InletCore

/// What happens to frames that come faster than a sink takes them.
///
/// The default, wherever frames are taken, is ``latest`` for a live source, and ``lossless(_:)`` for one that can wait,
/// such as a file.
public enum QueuePolicy: Sendable, Hashable {
    /// One frame waits, and a newer one takes its place: the sink always gets the newest.
    case latest
    /// Up to `count` frames wait; when there is no room, the oldest waiting frame or the newest is dropped.
    case buffered(_ count: Int, dropping: Dropped)
    /// No frame is dropped: when `count` frames wait, the source waits too, and with it every other sink. The
    /// default count is ``defaultLosslessCount``.
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

    /// The policy of a receiver that asks for none: one for every way to take frames.
    ///
    /// - Parameter format: nil until a source has been open; placeholders are not worth waiting for.
    static func standard(for format: SourceFormat?) -> QueuePolicy {
        guard let format, format.pacing != .live else { return .latest }
        return .lossless()
    }
}

import InletCore

/// The handling of frames that arrive faster than a sink takes them.
///
/// The default, for every way to take frames, is ``latest`` for a live source, and ``lossless(_:)`` for one that can
/// wait, such as a file.
public enum QueuePolicy: Sendable, Hashable {
    /// A single frame is queued, and a newer one replaces it: the sink always gets the newest.
    case latest
    /// Up to `count` frames are queued; when the queue is full, the oldest queued frame or the newest is dropped.
    case buffered(_ count: Int, dropping: Dropped)
    /// No frame is dropped: when `count` frames are queued, the source waits, and every other sink with it. The default
    /// count is ``defaultLosslessCount``.
    case lossless(_ count: Int = QueuePolicy.defaultLosslessCount)

    /// The frame that is dropped.
    public enum Dropped: String, Sendable, Hashable, CaseIterable {
        case oldest
        case newest
    }

    /// 4 frames: enough that a sink's short pauses do not stop the decoder, few enough to keep memory use low.
    public static let defaultLosslessCount = 4

    /// The most frames that can be queued; at least 1.
    public var capacity: Int {
        switch self {
        case .latest: 1
        case .buffered(let count, _), .lossless(let count): max(1, count)
        }
    }

    /// Returns the policy of a receiver that specifies none, the same for every way to take frames.
    ///
    /// - Parameter format: nil until a source has been open; placeholders are not worth waiting for.
    static func standard(for format: SourceFormat?) -> QueuePolicy {
        guard let format, format.pacing != .live else { return .latest }
        return .lossless()
    }
}

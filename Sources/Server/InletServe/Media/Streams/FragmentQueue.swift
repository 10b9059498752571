import NIOCore

/// The queue for a client of a fragment stream. It is limited by skipping whole fragments up to one that begins with a
/// key frame. Pure.
struct FragmentQueue {
    /// A piece of a stream.
    enum Piece: Sendable {
        /// The initialization section, which precedes all fragments.
        case beginning(ByteBuffer)
        /// A fragment.
        case fragment(ByteBuffer, isKey: Bool, FragmentTimes)
    }

    /// The maximum number of bytes in the queue.
    static let longest = 4 << 20
    private var waiting: [ByteBuffer] = []
    private var byteCount = 0
    /// Whether fragments are skipped up to a key frame: at the start, and after fragments were skipped.
    private var isSkipping = true
    /// The number of fragments skipped after the first one sent.
    private(set) var skipped = 0
    /// Whether any piece has been taken.
    private(set) var hasBegun = false

    /// Adds a piece.
    mutating func add(_ piece: Piece) {
        switch piece {
        case .beginning(let bytes): waiting.append(bytes)
        case .fragment(let bytes, let isKey, _):
            if byteCount + bytes.readableBytes > Self.longest, hasBegun {
                // The waiting fragments are dropped too, so that the client can catch up.
                skipped += waiting.count
                (waiting, byteCount, isSkipping) = ([], 0, true)
            }
            guard isKey || !isSkipping, bytes.readableBytes <= Self.longest else {
                isSkipping = true
                if hasBegun { skipped += 1 }
                return
            }
            isSkipping = false
            waiting.append(bytes)
            byteCount += bytes.readableBytes
        }
    }

    /// Returns all waiting pieces.
    mutating func take() -> [ByteBuffer] {
        guard byteCount > 0 else { return [] }
        defer { (waiting, byteCount) = ([], 0) }
        hasBegun = true
        return waiting
    }
}

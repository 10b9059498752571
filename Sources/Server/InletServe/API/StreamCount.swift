import Synchronization

/// Counts streams, and decides whether another stream may begin. Safe from any thread.
package final class StreamCount: Sendable {
    /// The protocol of a stream.
    package enum Kind: String, Sendable, CaseIterable {
        case http, webrtc, rtsp
    }

    /// The maximum number of concurrent streams of all kinds.
    let most: Int
    private let counts = Mutex<[Kind: Int]>([:])

    /// - Parameter most: the maximum number of concurrent streams.
    package init(most: Int) { self.most = most }

    /// Begins a stream.
    ///
    /// - Returns: whether the stream may begin. If true, ``end(_:)`` must be called in the end.
    func begin(_ kind: Kind = .http) -> Bool {
        counts.withLock { counts in
            guard counts.values.reduce(0, +) < most else { return false }
            counts[kind, default: 0] += 1
            return true
        }
    }

    /// Ends a stream.
    func end(_ kind: Kind = .http) { counts.withLock { $0[kind, default: 0] -= 1 } }

    /// Returns the number of open streams of a kind.
    func open(_ kind: Kind) -> Int { counts.withLock { $0[kind, default: 0] } }
}

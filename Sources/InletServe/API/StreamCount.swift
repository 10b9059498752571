import Synchronization

/// Counts streams, and says whether another one may begin. Safe from any thread.
package final class StreamCount: Sendable {
    /// By what a stream goes.
    package enum Kind: String, Sendable, CaseIterable {
        case http, webrtc, rtsp
    }

    /// The most streams at a time, of all kinds together.
    let most: Int
    private let counts = Mutex<[Kind: Int]>([:])

    /// - Parameter most: the most streams at a time.
    package init(most: Int) { self.most = most }

    /// Begins a stream.
    ///
    /// - Returns: whether it may; then ``end(_:)`` must be called in the end.
    func begin(_ kind: Kind = .http) -> Bool {
        counts.withLock { counts in
            guard counts.values.reduce(0, +) < most else { return false }
            counts[kind, default: 0] += 1
            return true
        }
    }

    /// Ends a stream.
    func end(_ kind: Kind = .http) { counts.withLock { $0[kind, default: 0] -= 1 } }

    /// How many of a kind there are now.
    func open(_ kind: Kind) -> Int { counts.withLock { $0[kind, default: 0] } }
}

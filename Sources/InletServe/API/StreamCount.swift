import Synchronization

/// Counts streams, and says whether another one may begin. Safe from any thread.
package final class StreamCount: Sendable {
    private let most: Int
    private let count = Atomic(0)

    /// - Parameter most: the most streams at a time.
    package init(most: Int) { self.most = most }

    /// Begins a stream.
    ///
    /// - Returns: whether it may; then ``end()`` must be called in the end.
    func begin() -> Bool {
        guard count.add(1, ordering: .relaxed).newValue <= most else {
            end()
            return false
        }
        return true
    }

    /// Ends a stream.
    func end() { count.subtract(1, ordering: .relaxed) }
}

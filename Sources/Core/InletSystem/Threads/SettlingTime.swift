package import InletCore

/// Reports when a burst of changes has settled: a while after the last change, and at most a longer while after the
/// first, so that endless changes are processed as well.
package struct SettlingTime: Sendable, Hashable {
    private let quiet: Duration
    private let limit: Duration
    private var first: MonotonicTime?
    /// The time of the next check; nil if nothing has changed since the last one.
    package private(set) var due: MonotonicTime?

    /// - Parameters:
    ///   - quiet: how long nothing must change.
    ///   - limit: the longest time from the first change.
    package init(quiet: Duration, limit: Duration) { (self.quiet, self.limit) = (quiet, limit) }

    /// Notes a change.
    package mutating func note(at now: MonotonicTime) {
        let first = first ?? now
        self.first = first
        due = min(now + quiet, first + limit)
    }

    /// Returns whether it is time to check, and forgets the changes if so.
    package mutating func take(at now: MonotonicTime) -> Bool {
        guard let due, now >= due else { return false }
        (first, self.due) = (nil, nil)
        return true
    }
}

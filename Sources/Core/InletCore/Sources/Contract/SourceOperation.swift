/// The operation that a source is running, as the bridge monitors it.
package struct SourceOperation: Sendable, Hashable {
    /// The time at which it should have ended.
    package var deadline: MonotonicTime
    /// The time since which no data has arrived: from the start of the operation, or since
    /// ``SourceContext/reportProgress()``.
    package var quietSince: MonotonicTime

    package init(deadline: MonotonicTime, quietSince: MonotonicTime) {
        self.deadline = deadline
        self.quietSince = quietSince
    }
}

/// The operation that a source runs, as the bridge watches it.
package struct SourceOperation: Sendable, Hashable {
    /// When it should have ended.
    package var deadline: MonotonicTime
    /// Since when no data has come: from the beginning of the operation, or since ``SourceContext/reportProgress()``.
    package var quietSince: MonotonicTime

    package init(deadline: MonotonicTime, quietSince: MonotonicTime) {
        self.deadline = deadline
        self.quietSince = quietSince
    }
}

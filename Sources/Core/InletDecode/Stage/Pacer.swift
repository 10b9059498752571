import InletCore

/// Holds frames back until they are due.
struct Pacer {
    private var anchor: (pts: MediaTime, time: MonotonicTime)?

    /// A file that is later than this, because its reader or the machine was stopped, continues from now rather than
    /// catching up.
    private static let largestLag = Duration.seconds(1)

    /// Blocks until the frame is due.
    ///
    /// - Returns: when the frame was due. A busy machine may return later than that.
    /// - Throws: as ``SourceContext/sleep(until:)``.
    mutating func wait(
        for pts: MediaTime, startsAnew: Bool, context: SourceContext
    ) throws(InletError) -> MonotonicTime {
        let now = context.clock.now
        guard let anchor, !startsAnew else {
            anchor = (pts, now)
            return now
        }
        let due =
            anchor.time
            + .nanoseconds(pts.nanoseconds.subtractingReportingOverflow(anchor.pts.nanoseconds).partialValue)
        if now - due > Self.largestLag || due - now > .seconds(60) {
            self.anchor = (pts, now)
            return now
        }
        try context.sleep(until: due)
        return due
    }
}

/// What a sink is given when it starts: the twin of ``SourceContext``.
///
/// It may be kept beyond the sink's end. Safe from any thread.
public final class SinkContext: Sendable {
    private let read: @Sendable () -> CaptureStatistics

    /// - Parameter statistics: answers ``statistics``, on any thread. The default is for a sink outside of any capture,
    ///   of which there is nothing to tell.
    public init(statistics: @escaping @Sendable () -> CaptureStatistics = { CaptureStatistics() }) {
        read = statistics
    }

    /// What the capture has done so far: a snapshot. Takes microseconds, and holds nobody up.
    public var statistics: CaptureStatistics { read() }
}

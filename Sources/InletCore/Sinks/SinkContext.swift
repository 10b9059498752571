/// The environment that a sink gets when it starts: the counterpart of ``SourceContext``.
///
/// It may be kept beyond the sink's end. Safe from any thread.
public final class SinkContext: Sendable {
    private let read: @Sendable () -> CaptureStatistics

    /// - Parameter statistics: returns ``statistics``, on any thread. The default is for a sink outside of any capture,
    ///   and returns empty statistics.
    public init(statistics: @escaping @Sendable () -> CaptureStatistics = { CaptureStatistics() }) {
        read = statistics
    }

    /// Statistics of the capture so far: a snapshot. Takes microseconds, and blocks nobody.
    public var statistics: CaptureStatistics { read() }
}

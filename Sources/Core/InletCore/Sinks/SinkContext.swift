/// The environment that a sink gets when it starts: the counterpart of ``SourceContext``.
///
/// It may be kept beyond the sink's end. Safe from any thread.
public final class SinkContext: Sendable {
    private let read: @Sendable () -> CaptureStatistics
    private let note: @Sendable (SinkSessions) -> Void

    /// - Parameters:
    ///   - statistics: returns ``statistics``, on any thread. The default is for a sink outside of any capture, and
    ///     returns empty statistics.
    ///   - sessions: called by ``report(_:)``, on its thread. The default does nothing.
    public init(
        statistics: @escaping @Sendable () -> CaptureStatistics = { CaptureStatistics() },
        sessions: @escaping @Sendable (SinkSessions) -> Void = { _ in }
    ) {
        read = statistics
        note = sessions
    }

    /// Statistics of the capture so far: a snapshot. Takes microseconds, and blocks no other thread.
    public var statistics: CaptureStatistics { read() }

    /// Sets the sink's sessions in the statistics: ``CaptureStatistics/Sink/sessions``. For a sink that has any, when
    /// it starts and at each change. Takes microseconds, and blocks no other thread.
    public func report(_ sessions: SinkSessions) { note(sessions) }
}

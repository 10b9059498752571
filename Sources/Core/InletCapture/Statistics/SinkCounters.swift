import InletCore
import Synchronization

/// The counters for ``CaptureStatistics/Sink``, written by the sink's queue and the capture thread without a lock;
/// the sessions, which change rarely, have a lock.
final class SinkCounters: Sendable {
    let delivered = Atomic(UInt64(0))
    let queueLatency = LatencyHistogram()
    let conversionTime = LatencyHistogram()
    let deliveryLatency = LatencyHistogram()
    let consumeTime = LatencyHistogram()
    let isAttached = Atomic(true)
    private let drops = DropCounters()
    private let sessions = Mutex(SinkSessions?.none)
    private let isUnwatched = Atomic(false)

    /// Whether the sink has viewers or peers at times.
    var hasSessions: Bool { sessions.withLock { $0 != nil } }

    /// Whether the sink has a peer to send to, or always takes frames.
    var isWatched: Bool { !isUnwatched.load(ordering: .relaxed) }

    func countDrop(_ reason: DropReason, _ count: Int = 1) { drops.count(reason, UInt64(clamping: count)) }

    /// Sets the sink's sessions.
    ///
    /// - Returns: whether the sink has got its first, or lost its last.
    func setSessions(_ now: SinkSessions) -> Bool {
        sessions.withLock { sessions in
            sessions = now
            let isUnwatched = now.open == 0 && now.pending == 0
            return self.isUnwatched.exchange(isUnwatched, ordering: .relaxed) != isUnwatched
        }
    }

    /// Records that the sink with the sessions is gone, so that an absence of sessions does not count as an absence of
    /// viewers.
    func forgetSessions() { isUnwatched.store(false, ordering: .relaxed) }

    func snapshot(id: SinkID, name: String) -> CaptureStatistics.Sink {
        var sink = CaptureStatistics.Sink(id: id, name: name)
        sink.delivered = delivered.load(ordering: .relaxed)
        sink.drops = drops.snapshot
        sink.queueLatency = queueLatency.snapshot
        sink.conversionTime = conversionTime.snapshot
        sink.deliveryLatency = deliveryLatency.snapshot
        sink.consumeTime = consumeTime.snapshot
        sink.sessions = sessions.withLock { $0 }
        sink.isAttached = isAttached.load(ordering: .relaxed)
        return sink
    }
}

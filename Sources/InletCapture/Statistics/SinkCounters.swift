import InletCore
import Synchronization

/// The counters behind ``CaptureStatistics/Sink``, written by the sink's queue and the capture thread without a lock;
/// the sessions, which change rarely, are behind one.
final class SinkCounters: Sendable {
    let delivered = Atomic(UInt64(0))
    let queueLatency = LatencyHistogram()
    let conversionTime = LatencyHistogram()
    let deliveryLatency = LatencyHistogram()
    let consumeTime = LatencyHistogram()
    let isAttached = Atomic(true)
    private let drops = DropCounters()
    private let sessions = Mutex(SinkSessions?.none)

    func countDrop(_ reason: DropReason, _ count: Int = 1) { drops.count(reason, UInt64(clamping: count)) }

    func setSessions(_ now: SinkSessions) { sessions.withLock { $0 = now } }

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

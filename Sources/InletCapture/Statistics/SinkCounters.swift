import InletCore
import Synchronization

/// The counters behind ``CaptureStatistics/Sink``, written by the sink's queue and the capture thread without a lock.
final class SinkCounters: Sendable {
    let delivered = Atomic(UInt64(0))
    let queueLatency = LatencyHistogram()
    let conversionTime = LatencyHistogram()
    let deliveryLatency = LatencyHistogram()
    let consumeTime = LatencyHistogram()
    let isAttached = Atomic(true)
    private let drops = DropCounters()

    func countDrop(_ reason: DropReason, _ count: Int = 1) { drops.count(reason, UInt64(clamping: count)) }

    func snapshot(id: SinkID, name: String) -> CaptureStatistics.Sink {
        CaptureStatistics.Sink(
            id: id, name: name, delivered: delivered.load(ordering: .relaxed), drops: drops.snapshot,
            queueLatency: queueLatency.snapshot, conversionTime: conversionTime.snapshot,
            deliveryLatency: deliveryLatency.snapshot, consumeTime: consumeTime.snapshot,
            isAttached: isAttached.load(ordering: .relaxed))
    }
}

public import InletCore
import Synchronization

/// What a capturer did so far. A snapshot: counts of different stages may be a frame apart while frames flow.
public struct CaptureStatistics: Sendable {
    /// Frames that the source yielded.
    public var captured: UInt64 = 0
    /// Frames that became I420, whether wrapped or converted. A frame that no sink takes is never converted.
    public var converted: UInt64 = 0
    /// Losses before any sink: in the source, its driver or decoder.
    public var sourceDrops: [DropReason: UInt64] = [:]
    /// Each sink that is or was attached, in the order of attachment.
    public var sinks: [Sink] = []
    /// The time from the capture of a picture to its arrival here, decoded: only where the source says when it was captured.
    public var captureLatency = LatencyDistribution(buckets: [], maximum: .zero)
    /// When the first and the newest frame arrived.
    public var firstArrival: MonotonicTime?
    /// When the newest frame arrived.
    public var lastArrival: MonotonicTime?
    /// The timestamps of the first and the newest frame.
    public var firstTimestamp: MonotonicTime?
    /// The timestamp of the newest frame.
    public var lastTimestamp: MonotonicTime?

    /// What it took to keep the source going.
    public var supervision = SupervisionFigures()

    /// Frames delivered, over all sinks.
    public var delivered: UInt64 { sinks.reduce(0) { $0 + $1.delivered } }

    /// All drops by reason, in the source and in the sinks.
    public var drops: [DropReason: UInt64] {
        sinks.reduce(into: sourceDrops) { total, sink in total.merge(sink.drops, uniquingKeysWith: +) }
    }

    /// What one sink got.
    public struct Sink: Sendable {
        /// Names the attachment.
        public var id: SinkID
        /// What the sink was called when it was attached.
        public var name: String
        /// Frames that the sink took without throwing.
        public var delivered: UInt64 = 0
        /// Frames that it did not get, by reason.
        public var drops: [DropReason: UInt64] = [:]
        /// From the frame's arrival to the moment the sink's queue took it up.
        public var queueLatency = LatencyDistribution(buckets: [], maximum: .zero)
        /// Conversion and scaling.
        public var conversionTime = LatencyDistribution(buckets: [], maximum: .zero)
        /// From the frame's arrival to its handing over to the sink.
        public var deliveryLatency = LatencyDistribution(buckets: [], maximum: .zero)
        /// What the sink itself took for a frame.
        public var consumeTime = LatencyDistribution(buckets: [], maximum: .zero)
        /// Whether the sink still takes frames.
        public var isAttached = true
    }
}

/// Names one attachment of a sink to a capturer.
public struct SinkID: Sendable, Hashable, CustomStringConvertible {
    let number: Int
    public var description: String { "sink-\(number)" }
}

/// The counters behind ``CaptureStatistics/Sink``, written by the sink's queue and the capture thread.
final class SinkCounters: Sendable {
    let delivered = Atomic(UInt64(0))
    let queueLatency = LatencyHistogram()
    let conversionTime = LatencyHistogram()
    let deliveryLatency = LatencyHistogram()
    let consumeTime = LatencyHistogram()
    let isAttached = Atomic(true)
    // Drops are the exception, so a lock that only they take is no lock on the frame path.
    private let drops = Mutex([DropReason: UInt64]())

    func countDrop(_ reason: DropReason, _ count: Int = 1) {
        guard count > 0 else { return }
        drops.withLock { $0[reason, default: 0] += UInt64(count) }
    }

    func snapshot(id: SinkID, name: String) -> CaptureStatistics.Sink {
        CaptureStatistics.Sink(
            id: id, name: name, delivered: delivered.load(ordering: .relaxed), drops: drops.withLock { $0 },
            queueLatency: queueLatency.snapshot, conversionTime: conversionTime.snapshot,
            deliveryLatency: deliveryLatency.snapshot, consumeTime: consumeTime.snapshot,
            isAttached: isAttached.load(ordering: .relaxed))
    }
}

extension CaptureStatistics {
    /// Frames a second as they arrived, over the whole run; nil before the second frame.
    public var frameRate: Double? {
        guard captured > 1, let firstArrival, let lastArrival, lastArrival > firstArrival else { return nil }
        return Double(captured - 1) / (Double((lastArrival - firstArrival).wholeNanoseconds) / 1e9)
    }
}

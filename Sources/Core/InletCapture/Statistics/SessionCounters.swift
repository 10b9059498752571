import InletCore
import Synchronization

/// Figures that capture threads write and statistics read. A capturer keeps one instance over all its sessions; one
/// session at a time writes.
///
/// No method that is called for each frame takes a lock.
final class SessionCounters: Sendable {
    let captured = Atomic(UInt64(0))
    let converted = Atomic(UInt64(0))
    /// Frames missing by a gap in the source's own sequence numbers.
    let lostInSequence = Atomic(UInt64(0))
    /// Frames that were placed on the timeline by their arrival.
    let stampedByArrival = Atomic(UInt64(0))

    private let captureLatency = LatencyHistogram()
    private let recent = RollingFrameRate()
    // Instants in nanoseconds, `noTime` before the first frame.
    private let firstArrival = Atomic(noTime)
    private let lastArrival = Atomic(noTime)
    private let firstTimestamp = Atomic(noTime)
    private let lastTimestamp = Atomic(noTime)
    private static let noTime = Int64.min

    /// The counters in which the source of each session counts its losses. Locked for a new session and for a snapshot,
    /// never for a frame.
    private let losses = Mutex(Losses())

    private struct Losses {
        var past: [DropReason: UInt64] = [:]
        var reception: ReceptionFigures?
        var context: SourceContext?
    }

    /// Includes the losses that a source counts in its context in the statistics, from now on and after the next
    /// session has begun.
    func follow(_ context: SourceContext) {
        losses.withLock {
            guard $0.context !== context else { return }
            if let before = $0.context {
                $0.past.merge(before.dropCounts, uniquingKeysWith: &+)
                $0.reception = Self.sum($0.reception, before.reception)
            }
            $0.context = context
        }
    }

    /// Counts a frame. Called on the capture thread.
    ///
    /// - Parameter captureTime: when the device took the picture, if it reports that.
    func frameArrived(at arrival: MonotonicTime, timestamp: MonotonicTime, captureTime: MonotonicTime?) {
        let number = captured.wrappingAdd(1, ordering: .relaxed).newValue
        if number == 1 {
            firstArrival.store(arrival.nanoseconds, ordering: .relaxed)
            firstTimestamp.store(timestamp.nanoseconds, ordering: .relaxed)
        }
        lastArrival.store(arrival.nanoseconds, ordering: .relaxed)
        lastTimestamp.store(timestamp.nanoseconds, ordering: .relaxed)
        recent.frameArrived(at: arrival)
        if let captureTime { captureLatency.record(from: captureTime, to: arrival) }
    }

    /// Returns the statistics so far.
    ///
    /// - Parameter now: the end of the period for the recent rate.
    func statistics(at now: MonotonicTime) -> CaptureStatistics {
        var statistics = CaptureStatistics()
        statistics.captured = captured.load(ordering: .relaxed)
        statistics.converted = converted.load(ordering: .relaxed)
        statistics.stampedByArrival = stampedByArrival.load(ordering: .relaxed)
        statistics.captureLatency = captureLatency.snapshot
        statistics.firstArrival = Self.time(firstArrival)
        statistics.lastArrival = Self.time(lastArrival)
        statistics.firstTimestamp = Self.time(firstTimestamp)
        statistics.lastTimestamp = Self.time(lastTimestamp)
        statistics.sourceDrops = losses.withLock {
            $0.past.merging($0.context?.dropCounts ?? [:], uniquingKeysWith: &+)
        }
        statistics.reception = losses.withLock { Self.sum($0.reception, $0.context?.reception) }
        let gaps = lostInSequence.load(ordering: .relaxed)
        if gaps > 0 { statistics.sourceDrops[.lostBySource, default: 0] &+= gaps }
        statistics.recentFrameRate = recent.rate(at: now)
        return statistics
    }

    private static func sum(_ past: ReceptionFigures?, _ now: ReceptionFigures?) -> ReceptionFigures? {
        guard let past else { return now }
        return now.map { past.followed(by: $0) } ?? past
    }

    private static func time(_ nanoseconds: borrowing Atomic<Int64>) -> MonotonicTime? {
        let value = nanoseconds.load(ordering: .relaxed)
        return value == noTime ? nil : MonotonicTime(nanoseconds: value)
    }
}

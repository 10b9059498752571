import InletCore
import Synchronization

/// Figures that a session writes and statistics read.
final class SessionCounters: Sendable {
    let captured = Atomic(UInt64(0))
    let converted = Atomic(UInt64(0))
    let lostInSequence = Atomic(UInt64(0))
    private let times = Mutex(Times())

    private struct Times {
        var firstArrival: MonotonicTime?
        var lastArrival: MonotonicTime?
        var firstTimestamp: MonotonicTime?
        var lastTimestamp: MonotonicTime?
    }

    func frameArrived(at arrival: MonotonicTime, timestamp: MonotonicTime) {
        captured.add(1, ordering: .relaxed)
        times.withLock {
            $0.firstArrival = $0.firstArrival ?? arrival
            $0.lastArrival = arrival
            $0.firstTimestamp = $0.firstTimestamp ?? timestamp
            $0.lastTimestamp = timestamp
        }
    }

    var statistics: CaptureStatistics {
        var statistics = CaptureStatistics()
        statistics.captured = captured.load(ordering: .relaxed)
        statistics.converted = converted.load(ordering: .relaxed)
        times.withLock {
            statistics.firstArrival = $0.firstArrival
            statistics.lastArrival = $0.lastArrival
            statistics.firstTimestamp = $0.firstTimestamp
            statistics.lastTimestamp = $0.lastTimestamp
        }
        return statistics
    }
}

import DequeModule
import InletCore

/// The history of a camera over the last hour, in samples of ten seconds: limited in size, and kept only in memory.
/// Pure.
struct CameraHistory: Sendable {
    /// The counters and the state of a camera at a moment.
    struct Reading: Sendable {
        var time: MonotonicTime
        /// The time of day, in nanoseconds since 1970.
        var wallTime: Int64
        var captured: UInt64
        var dropped: UInt64
        var phase: CapturePhase
    }

    /// The camera's activity during one time span.
    struct Sample: Sendable, Equatable {
        /// The time of day at which the sample begins, in nanoseconds since 1970.
        var begin: Int64
        var length: Duration
        /// The frames that the source produced, and the frames that were lost.
        var frames, dropped: UInt64
        /// The state at the end of the sample.
        var phase: CapturePhase
    }

    /// The length of a sample. The caller of ``close(at:)`` keeps this interval.
    static let interval = Duration.seconds(10)
    /// The number of samples in an hour.
    static let mostSamples = 360

    private var samples: Deque<Sample> = []
    private var last: Reading

    init(from start: Reading) { last = start }

    /// Ends a sample and begins the next one.
    mutating func close(at reading: Reading) {
        if samples.count >= Self.mostSamples { samples.removeFirst() }
        samples.append(sample(to: reading))
        last = reading
    }

    /// The shortest unfinished sample that is included. A shorter one would give a meaningless frame rate.
    private static let shortest = Duration.seconds(1)

    /// Returns all samples, the oldest first, including the unfinished one if it is long enough.
    func samples(until reading: Reading) -> [Sample] {
        let last = sample(to: reading)
        guard samples.isEmpty || last.length >= Self.shortest else { return Array(samples) }
        return Array(samples.suffix(Self.mostSamples - 1)) + [last]
    }

    private func sample(to now: Reading) -> Sample {
        // The counters start at zero again when a new capture opens the camera.
        func difference(_ count: KeyPath<Reading, UInt64>) -> UInt64 {
            let (old, new) = (last[keyPath: count], now[keyPath: count])
            return new >= old ? new - old : new
        }
        return Sample(
            begin: last.wallTime, length: max(.zero, now.time - last.time), frames: difference(\.captured),
            dropped: difference(\.dropped), phase: now.phase)
    }
}

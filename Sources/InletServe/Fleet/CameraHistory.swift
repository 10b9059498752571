import DequeModule
import InletCore

/// What a camera did in the last hour, in stretches of ten seconds: bounded, and in memory alone. Pure.
struct CameraHistory: Sendable {
    /// What a camera has counted, and its state, at a moment.
    struct Reading: Sendable {
        var time: MonotonicTime
        /// The time of day, in nanoseconds since 1970.
        var wallTime: Int64
        var captured: UInt64
        var dropped: UInt64
        var phase: CapturePhase
    }

    /// A stretch of time.
    struct Sample: Sendable, Equatable {
        /// The time of day at which it begins, in nanoseconds since 1970.
        var begin: Int64
        var length: Duration
        /// Frames that the source yielded, and those that were lost.
        var frames, dropped: UInt64
        /// The state at its end.
        var phase: CapturePhase
    }

    /// The length of a stretch, by whoever calls ``close(at:)``.
    static let interval = Duration.seconds(10)
    /// As many as an hour has.
    static let mostSamples = 360

    private var samples: Deque<Sample> = []
    private var last: Reading

    init(from start: Reading) { last = start }

    /// Ends a stretch and begins the next one.
    mutating func close(at reading: Reading) {
        if samples.count >= Self.mostSamples { samples.removeFirst() }
        samples.append(sample(to: reading))
        last = reading
    }

    /// The shortest stretch that has not ended yet and is told beside others: a frame in some milliseconds is no rate.
    private static let shortest = Duration.seconds(1)

    /// Returns all stretches, the oldest first, with the one that has not ended yet if it is not too short.
    func samples(until reading: Reading) -> [Sample] {
        let last = sample(to: reading)
        guard samples.isEmpty || last.length >= Self.shortest else { return Array(samples) }
        return Array(samples.suffix(Self.mostSamples - 1)) + [last]
    }

    private func sample(to now: Reading) -> Sample {
        // A camera that was opened anew by another capture counts from zero.
        func difference(_ count: KeyPath<Reading, UInt64>) -> UInt64 {
            let (old, new) = (last[keyPath: count], now[keyPath: count])
            return new >= old ? new - old : new
        }
        return Sample(
            begin: last.wallTime, length: max(.zero, now.time - last.time), frames: difference(\.captured),
            dropped: difference(\.dropped), phase: now.phase)
    }
}

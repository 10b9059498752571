import InletCore

/// Selects evenly spaced frames, so that at most a given number pass each second. It has no clock.
struct RateThinning: Sendable {
    /// The minimum average time between frames, in nanoseconds; 0 for all frames.
    private(set) var interval: Int64 = 0
    private var due: Int64?

    /// Sets the maximum number of frames per second; nil, or a rate that is not greater than 0, lets all pass.
    mutating func setRate(_ rate: Rational?) {
        let positive = rate.flatMap { $0 > Rational(0) ? $0.reciprocal : nil }
        interval = positive.map { max(0, MediaTime(ticks: 1, timeBase: $0).nanoseconds) } ?? 0
        due = nil
    }

    /// Returns whether the frame with this time, in nanoseconds, passes.
    mutating func admits(_ time: Int64) -> Bool {
        guard interval > 0 else { return true }
        guard let due, time > due.subtracting(saturating: interval.multiplied(saturatingBy: 2)),
            time < due.adding(saturating: interval)
        else {
            // The first frame, one after a pause, or one of another timeline.
            due = time.adding(saturating: interval)
            return true
        }
        // Up to an eighth of an interval of jitter costs no frame.
        guard time >= due.subtracting(saturating: interval / 8) else { return false }
        self.due = due.adding(saturating: interval)
        return true
    }
}

import InletCore

/// Decides when a sink that failed is recreated, without a clock or a timer.
struct RestartSchedule {
    private let delay: RestartDelay
    private var attempt = 0
    /// The times of the first and the newest frame that the sink has taken since it was made.
    private var worked: (from: MonotonicTime, to: MonotonicTime)?
    private var dueTime: MonotonicTime?

    init(_ delay: RestartDelay) { self.delay = delay }

    /// Records that the sink has taken a frame. A sink that takes no frames is not healthy, however long it takes to
    /// fail.
    mutating func deliver(at now: MonotonicTime) { worked = (worked?.from ?? now, now) }

    /// Records a failure of the sink.
    ///
    /// - Returns: the number of the next attempt and the delay before it; nil if no attempt is left.
    mutating func fail(at now: MonotonicTime) -> (attempt: Int, delay: Duration)? {
        if let worked, worked.to - worked.from >= delay.healthy { attempt = 0 }
        worked = nil
        if let limit = delay.attempts, attempt >= limit { return nil }
        attempt += 1
        let wait = delay.delay(before: attempt)
        dueTime = now + wait
        return (attempt, wait)
    }

    /// Returns whether the sink may be recreated now. If so, it counts as recreated.
    mutating func restart(at now: MonotonicTime) -> Bool {
        guard isDue(at: now) else { return false }
        dueTime = nil
        return true
    }

    /// Returns whether the wait is over.
    func isDue(at now: MonotonicTime) -> Bool { dueTime.map { now >= $0 } ?? false }
}

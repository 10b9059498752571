import InletCore

/// When a sink that failed is made anew: decides, without a clock or a timer.
struct RestartSchedule {
    private let delay: RestartDelay
    private var attempt = 0
    /// The first and the newest frame that the sink has taken since it was made.
    private var worked: (from: MonotonicTime, to: MonotonicTime)?
    private var dueTime: MonotonicTime?

    init(_ delay: RestartDelay) { self.delay = delay }

    /// The sink has taken a frame. One that takes none is not healthy, however long it takes to fail.
    mutating func deliver(at now: MonotonicTime) { worked = (worked?.from ?? now, now) }

    /// The sink has failed.
    ///
    /// - Returns: the number of the attempt to come and how long to wait for it; nil where there shall be none.
    mutating func fail(at now: MonotonicTime) -> (attempt: Int, delay: Duration)? {
        if let worked, worked.to - worked.from >= delay.healthy { attempt = 0 }
        worked = nil
        if let limit = delay.attempts, attempt >= limit { return nil }
        attempt += 1
        let wait = delay.delay(before: attempt)
        dueTime = now + wait
        return (attempt, wait)
    }

    /// Whether the sink may be made now. It counts as made then.
    mutating func restart(at now: MonotonicTime) -> Bool {
        guard let dueTime, now >= dueTime else { return false }
        self.dueTime = nil
        return true
    }
}

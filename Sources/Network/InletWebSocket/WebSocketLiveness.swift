import NIOCore

/// Decides whether a server that is sent a ping at each tick is gone.
struct WebSocketLiveness: Sendable {
    private let interval, limit: TimeAmount
    private var lastHeard, lastTick: NIODeadline

    /// - Parameters:
    ///   - interval: the time from tick to tick.
    ///   - limit: the longest silence.
    ///   - now: when the connection begins.
    init(interval: TimeAmount, limit: TimeAmount, now: NIODeadline) {
        (self.interval, self.limit) = (interval, limit)
        (lastHeard, lastTick) = (now, now)
    }

    /// Records that the server has sent something.
    mutating func noteHeard(at time: NIODeadline) { lastHeard = time }

    /// Returns whether the server has been silent for the limit. Called at each tick.
    ///
    /// The time by which a tick is late does not count: this process was stopped, or had no processor, and sent no
    /// pings meanwhile.
    ///
    /// - Parameter isPaused: whether reading is paused. The data that arrives then is not seen, so the time does not
    ///   count either.
    mutating func isGone(at time: NIODeadline, isPaused: Bool) -> Bool {
        let lateness = max(.zero, time - (lastTick + interval))
        lastTick = time
        lastHeard = isPaused ? time : min(time, lastHeard + lateness)
        return time - lastHeard >= limit
    }
}

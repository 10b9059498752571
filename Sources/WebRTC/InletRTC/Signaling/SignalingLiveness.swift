public import InletCore

/// Decides when the other end of a connection is pinged and when it is gone, without a clock.
public struct SignalingLiveness: Sendable, Hashable {
    /// The action at a time.
    public enum Verdict: Sendable, Hashable {
        /// Nothing yet.
        case wait
        /// A ping is due; the other end answers if it is there.
        case ping
        /// Nothing was received for too long: the other end is gone.
        case gone
    }

    /// The time of silence before the other end is pinged, and between pings.
    public let interval: Duration
    /// The maximum time that the other end may be silent.
    public let limit: Duration
    private var lastHeard: MonotonicTime
    private var lastPing: MonotonicTime

    /// Begins at a time at which the other end sent something.
    ///
    /// - Parameters:
    ///   - interval: the time of silence before a ping. The default is 10 seconds.
    ///   - limit: the maximum time of silence; at least twice the interval leaves time for an answer. The default is 25
    ///     seconds.
    ///   - now: the time when the other end sent something.
    public init(interval: Duration = .seconds(10), limit: Duration = .seconds(25), at now: MonotonicTime) {
        self.interval = max(interval, .milliseconds(1))
        self.limit = max(limit, self.interval)
        (lastHeard, lastPing) = (now, now)
    }

    /// Records that something was received: a message, a ping or the answer to one.
    public mutating func heard(at now: MonotonicTime) { lastHeard = max(lastHeard, now) }

    /// The time when ``check(at:)`` is due.
    public var deadline: MonotonicTime { min(lastHeard + limit, max(lastHeard, lastPing) + interval) }

    /// Returns the action for now. A ping that it requests counts as sent.
    public mutating func check(at now: MonotonicTime) -> Verdict {
        if now >= lastHeard + limit { return .gone }
        guard now >= max(lastHeard, lastPing) + interval else { return .wait }
        lastPing = now
        return .ping
    }
}

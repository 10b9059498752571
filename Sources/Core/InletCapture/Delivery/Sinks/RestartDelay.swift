/// The delay before a failed sink is recreated: longer each time that it fails again.
public struct RestartDelay: Sendable, Hashable {
    /// The delay before the first attempt. The default is 1 second.
    public var first = Duration.seconds(1)
    /// The longest delay. Each attempt waits twice as long as the one before it, but no longer than this. The default
    /// is 30 seconds.
    public var longest = Duration.seconds(30)
    /// The attempts in a row after which the sink is detached. The default, nil, means no limit.
    public var attempts: Int?
    /// The time that a sink must have taken frames since its restart, from the first to the newest, to count as
    /// healthy: attempts are then counted from 1 again. The default is 10 seconds.
    public var healthy = Duration.seconds(10)

    public init() {}

    /// Returns the delay before an attempt, 1 being the first.
    func delay(before attempt: Int) -> Duration {
        var delay = first
        for _ in 1..<max(1, attempt) where delay < longest { delay *= 2 }
        return max(.zero, min(delay, longest))
    }
}

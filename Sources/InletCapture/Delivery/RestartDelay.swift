/// How long a failed sink rests before it is made anew: longer each time that it fails again.
public struct RestartDelay: Sendable, Hashable {
    /// Before the first attempt. The default is 1 second.
    public var first = Duration.seconds(1)
    /// Each attempt waits twice as long as the one before it, but no longer than this. The default is 30 seconds.
    public var longest = Duration.seconds(30)
    /// After so many attempts in a row the sink is detached. The default, nil, is no limit.
    public var attempts: Int?
    /// A sink that has taken frames for so long since its restart, from the first to the newest, is healthy: attempts
    /// are then counted anew. The default is 10 seconds.
    public var healthy = Duration.seconds(10)

    public init() {}

    /// The delay before an attempt, 1 being the first.
    func delay(before attempt: Int) -> Duration {
        var delay = first
        for _ in 1..<max(1, attempt) where delay < longest { delay *= 2 }
        return max(.zero, min(delay, longest))
    }
}

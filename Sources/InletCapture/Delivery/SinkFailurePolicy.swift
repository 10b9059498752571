/// What happens when a sink throws. The source and the other sinks notice nothing either way.
///
/// ``SinkStopped`` is no failure: a sink that has had enough is detached. So is one whose wants cannot be fulfilled.
public enum SinkFailurePolicy: Sendable, Hashable {
    /// The sink is finished and detached. The default.
    case detach
    /// The sink is finished, and after a while its configuration makes a new one in its place, under the same name and with the same queue.
    /// One that failed with what no repetition mends, such as ``InletError/Code/invalidConfiguration``, is detached. It starts with the first frame that comes then. Frames that come meanwhile are dropped and counted as ``DropReason/sinkFailed``.
    case restart(after: RestartDelay = RestartDelay())
}

/// How long a failed sink rests before it is made anew: longer each time that it fails again.
public struct RestartDelay: Sendable, Hashable {
    /// Before the first attempt. The default is 1 second.
    public var first = Duration.seconds(1)
    /// Each attempt waits twice as long as the one before it, but no longer than this. The default is 30 seconds.
    public var longest = Duration.seconds(30)
    /// After so many attempts in a row the sink is detached. The default, nil, is no limit.
    public var attempts: Int?
    /// A sink that has taken frames for so long since its restart, from the first to the newest, is healthy: attempts are then counted anew. The
    /// default is 10 seconds.
    public var healthy = Duration.seconds(10)

    public init() {}

    /// The delay before an attempt, 1 being the first.
    func delay(before attempt: Int) -> Duration {
        var delay = first
        for _ in 1..<max(1, attempt) where delay < longest { delay *= 2 }
        return max(.zero, min(delay, longest))
    }
}

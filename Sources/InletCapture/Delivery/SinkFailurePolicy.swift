/// What happens when a sink throws. The source and the other sinks are not affected either way.
///
/// ``SinkStopped`` is no failure: a sink that has had enough is detached. So is one whose wants cannot be fulfilled.
public enum SinkFailurePolicy: Sendable, Hashable {
    /// The sink is finished and detached. The default.
    case detach
    /// The sink is finished, and after a delay its configuration makes a new one in its place, under the same name and
    /// with the same queue. One that failed with an error that retrying cannot resolve, such as
    /// ``InletError/Code/invalidConfiguration``, is detached. The new sink starts with the first frame after the delay.
    /// Frames that arrive meanwhile are dropped and counted as ``DropReason/sinkFailed``.
    case restart(after: RestartDelay = RestartDelay())
}

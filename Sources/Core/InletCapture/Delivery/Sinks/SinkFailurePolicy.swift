/// The reaction to an error thrown by a sink. The source and the other sinks are never affected.
///
/// ``SinkStopped`` is not a failure: the sink is detached. A sink whose wants cannot be fulfilled is also detached.
public enum SinkFailurePolicy: Sendable, Hashable {
    /// The sink is finished and detached. The default.
    case detach
    /// The sink is finished, and after a delay its configuration makes a new one in its place, under the same name and
    /// with the same queue. A sink that failed with an error that retrying cannot resolve, such as
    /// ``InletError/Code/invalidConfiguration``, is detached. The new sink starts with the first frame after the delay.
    /// Frames that arrive meanwhile are dropped and counted as ``DropReason/sinkFailed``.
    case restart(after: RestartDelay = RestartDelay())
}

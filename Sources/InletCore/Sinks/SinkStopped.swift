/// Thrown by a sink that wants no more frames although nothing failed, such as a pipe whose reader went away.
public struct SinkStopped: Error, Sendable {
    public init() {}
}

/// Thrown by a sink that wants no more frames although nothing failed, such as a pipe whose reader has closed.
public struct SinkStopped: Error, Sendable {
    public init() {}
}

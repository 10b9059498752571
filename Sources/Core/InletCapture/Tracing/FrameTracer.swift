import InletCore

/// Receives a trace of every frame when it has been delivered to a sink or dropped.
///
/// Set one as ``CapturerConfiguration/tracer``. Without one, tracing costs nothing.
public protocol FrameTracer: Sendable {
    /// Called once for each frame and sink, when the sink has taken the frame or it was dropped: on the sink's queue or
    /// task, or on the capture thread. A slow implementation holds up frames.
    ///
    /// Frames still queued when the queue is closed are only counted, as ``DropReason/cancelled``.
    func trace(_ trace: FrameTrace)
}

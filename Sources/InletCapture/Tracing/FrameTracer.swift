import InletCore

/// Is told of every frame when its way to a sink has ended.
///
/// Give one to ``CapturerConfiguration/tracer``. Without one, tracing costs nothing.
public protocol FrameTracer: Sendable {
    /// Called once for each frame and sink, when the sink has taken the frame or it was dropped for it: on the sink's
    /// queue or task, or on the capture thread. What takes long here holds up frames.
    ///
    /// Frames that wait in a queue when it is closed are only counted, as ``DropReason/cancelled``.
    func trace(_ trace: FrameTrace)
}

import InletCore
import Synchronization

/// Who wants to know what becomes of frames, besides the counters.
struct DeliveryObserver: Sendable {
    /// The source by its URI, without credentials.
    var source = ""
    var tracer: (any FrameTracer)?
    var log: CaptureLog?
}

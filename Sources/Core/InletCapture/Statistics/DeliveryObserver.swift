import InletCore
import Synchronization

/// Receives what happens to frames, besides the counters.
struct DeliveryObserver: Sendable {
    /// The source's URI, without credentials.
    var source = ""
    var tracer: (any FrameTracer)?
    var log: CaptureLog?
}

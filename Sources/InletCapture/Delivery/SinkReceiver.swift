import InletCore

/// One attachment to a capturer, as the capture thread sees it: something that takes pictures (``FrameReceiver``),
/// packets (``PacketReceiver``) or both.
protocol SinkReceiver: AnyObject, Sendable {
    var id: SinkID { get }
    var name: String { get }
    var counters: SinkCounters { get }

    /// Called on the producer's thread, before the first frame, and again when receivers or the source have changed.
    ///
    /// - Parameter format: nil until a source has been open: placeholders follow.
    func begin(_ format: SourceFormat?, room: ProducerGate)

    /// No more frames come; those that wait are still delivered.
    ///
    /// - Parameter error: why, where the source failed.
    func finish(_ error: InletError?)

    /// Ends at once; what waits is dropped and counted.
    func close()

    /// Resolved when the last frame was taken and the sink finished.
    var ended: Completion<Void> { get }
}

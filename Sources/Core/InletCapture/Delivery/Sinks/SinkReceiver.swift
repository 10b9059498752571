import InletCore

/// An attachment to a capturer, as the capture thread sees it: something that takes pictures (``FrameReceiver``),
/// packets (``PacketReceiver``) or both.
protocol SinkReceiver: AnyObject, Sendable {
    var id: SinkID { get }
    var name: String { get }
    var counters: SinkCounters { get }

    /// Called on the producer's thread, before the first frame, and again when receivers or the source have changed.
    ///
    /// - Parameter format: nil until a source has been open; placeholders follow then.
    func begin(_ format: SourceFormat?, room: ProducerGate)

    /// Records that no more frames follow; those queued are still delivered.
    ///
    /// - Parameter error: the error, if the source failed.
    func finish(_ error: InletError?)

    /// Ends at once; frames queued are dropped and counted.
    func close()

    /// Whether the receiver has an audience for the source's items: false only for a sink with viewers or peers that
    /// currently has none.
    var isWatched: Bool { get }

    /// Resolved when the last frame was taken and the sink finished.
    var ended: Completion<Void> { get }
}

extension SinkReceiver {
    var isWatched: Bool { counters.isWatched }
}

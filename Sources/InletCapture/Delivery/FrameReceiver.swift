import InletCore

/// The end of the bridge that a capture thread sees: something with a mailbox that takes frames.
protocol FrameReceiver: AnyObject, Sendable {
    var id: SinkID { get }
    var name: String { get }
    /// What its frames shall be like, of which the demand on the source is made. May change.
    var wants: SinkWants { get }
    var counters: SinkCounters { get }

    /// Called on the producer's thread, before the first frame, and again when receivers or the source have changed.
    ///
    /// - Parameter format: nil until a source has been open: placeholders follow.
    func begin(_ format: SourceFormat?, room: ProducerGate)

    /// Called on the producer's thread. Blocks only under a lossless policy.
    func offer(_ frame: CapturedFrame, isCancelled: () -> Bool)

    /// Whether it takes the source's packets.
    var takesPackets: Bool { get }

    /// Whether the source waits for it, so that it gets every picture.
    var isLossless: Bool { get }

    /// Whether it takes pictures.
    var takesPictures: Bool { get }

    /// Called on the producer's thread, for receivers that take packets. Blocks only where the source waits for its
    /// sinks.
    func offer(_ packet: EncodedPacket, of parameters: CodecParameters, isCancelled: () -> Bool)

    /// Called on the producer's thread, for receivers that take packets: one is kept from it. It goes on with a key
    /// frame.
    func losePacket(_ reason: DropReason)

    /// Whether frames are to be expected. Called on some thread.
    func sourceChanged(to condition: SourceCondition)

    /// No more frames come; those that wait are still delivered.
    ///
    /// - Parameter error: why, where the source failed.
    func finish(_ error: InletError?)

    /// Ends at once; what waits is dropped and counted.
    func close()

    /// Resolved when the last frame was taken and the sink finished.
    var ended: Completion<Void> { get }
}

extension FrameReceiver {
    var isLossless: Bool { false }
    var takesPackets: Bool { false }
    var takesPictures: Bool { !takesPackets }
    func offer(_ packet: EncodedPacket, of parameters: CodecParameters, isCancelled: () -> Bool) {}
    func losePacket(_ reason: DropReason) {}
    func sourceChanged(to condition: SourceCondition) {}
}

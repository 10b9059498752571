/// Where compressed packets go: a file, a server, a peer.
///
/// Every method is called on one thread at a time, so an implementation keeps plain mutable state. It may block: only
/// this sink's packets wait or drop.
public protocol PacketSink: AnyObject {
    /// Called before the first packet, and again whenever what packets are changes: the next one is then a key frame.
    ///
    /// - Throws: what makes it pointless to go on.
    func start(_ parameters: CodecParameters) throws

    /// Takes one packet. The first after a start, and after any that were dropped, is a key frame.
    ///
    /// - Throws: what makes it pointless to go on. Two are not errors: ``SinkStopped`` says that the sink has had
    ///   enough, and ``KeyFrameNeeded`` that it did not take this packet.
    func write(_ packet: EncodedPacket) throws

    /// Whether a key frame would be welcome now, as where a file has reached its length. Asked after each packet. The
    /// default is false.
    var wantsKeyFrame: Bool { get }

    /// How long packets may wait for others, so that the sink's thread is woken for several at once. Asked once, before
    /// ``start(_:)``. The default is zero: each is written as it comes.
    var batchInterval: Duration { get }

    /// Writes what is left and lets go of everything. Called exactly once after a first `start` that did not throw.
    func finish() throws
}

extension PacketSink {
    /// Never.
    public var wantsKeyFrame: Bool { false }
    /// Zero.
    public var batchInterval: Duration { .zero }
    /// Does nothing.
    public func finish() throws {}
}

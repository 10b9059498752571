/// A destination of compressed packets: a file, a server, a peer.
///
/// Every method is called on one thread at a time, so an implementation keeps plain mutable state. It may block: only
/// this sink's packets wait or are dropped.
public protocol PacketSink: AnyObject {
    /// Starts the sink, or passes new parameters. Called before the first packet, and again whenever the parameters
    /// change: the next packet is then a key frame.
    ///
    /// - Throws: an error if continuing is pointless.
    func start(_ parameters: CodecParameters) throws

    /// Takes one packet. The first after a start, and after any that were dropped, is a key frame.
    ///
    /// - Throws: an error if continuing is pointless. Two are not failures: ``SinkStopped`` means that the sink has had
    ///   enough, and ``KeyFrameNeeded`` that it did not accept this packet.
    func write(_ packet: EncodedPacket) throws

    /// Whether the sink requests a key frame now, as when a file has reached its length. Checked after each packet. The
    /// default is false.
    var wantsKeyFrame: Bool { get }

    /// The time for which packets may wait for others, so that the sink's thread is woken for several at once. Read
    /// once, before ``start(_:)``. The default is zero: each is written as it arrives.
    var batchInterval: Duration { get }

    /// Writes the remaining data and releases all resources. Called exactly once after a first `start` that did not
    /// throw.
    func finish() throws
}

extension PacketSink {
    /// Requests no key frames.
    public var wantsKeyFrame: Bool { false }
    /// Zero.
    public var batchInterval: Duration { .zero }
    /// Does nothing.
    public func finish() throws {}
}

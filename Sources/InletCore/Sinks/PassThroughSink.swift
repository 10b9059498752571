import Synchronization

/// A sink of pictures that hands on the source's packets as they are where it can, so that none is decoded for it.
///
/// It gets both while both are wanted: the pictures as every sink does, the packets on another thread. A source without
/// packets gives it pictures alone, and so does one that is not paced.
public protocol PassThroughSink: FrameSink {
    /// Makes what takes the packets. Called once, when the sink is attached. A live source does not wait for it: what
    /// it is too slow for is dropped up to the next key frame. One that throws gets no more, and pictures are wanted
    /// from then on.
    func makePacketSink() -> any PacketSink & Sendable

    /// Says whether pictures are wanted, too.
    var pictureRequest: PictureRequest { get }
}

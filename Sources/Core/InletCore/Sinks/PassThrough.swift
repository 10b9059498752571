/// Lets a sink of pictures also take the source's packets and pass them on unchanged, so that none is decoded for it.
///
/// It gets both while both are wanted: the pictures as every sink does, the packets on another thread. A source without
/// packets gives it only pictures, and so does an unpaced one.
public struct PassThrough: Sendable {
    /// The sink that takes the packets. A live source does not wait for it: packets that it is too slow for are dropped
    /// up to the next key frame. If it throws, it gets no more, and pictures are wanted from then on.
    public var sink: any PacketSink & Sendable
    /// Tells whether pictures are wanted as well.
    public var pictureRequest: PictureRequest

    /// - Parameters:
    ///   - sink: takes the packets.
    ///   - pictureRequest: is whether pictures are wanted as well.
    public init(to sink: any PacketSink & Sendable, pictureRequest: PictureRequest) {
        self.sink = sink
        self.pictureRequest = pictureRequest
    }
}

/// How a sink of pictures takes the source's packets, too, and hands them on as they are, so that none is decoded for
/// it.
///
/// It gets both while both are wanted: the pictures as every sink does, the packets on another thread. A source without
/// packets gives it pictures alone, and so does one that is not paced.
public struct PassThrough: Sendable {
    /// What takes the packets. A live source does not wait for it: what it is too slow for is dropped up to the next
    /// key frame. One that throws gets no more, and pictures are wanted from then on.
    public var sink: any PacketSink & Sendable
    /// Says whether pictures are wanted, too.
    public var pictureRequest: PictureRequest

    /// - Parameters:
    ///   - sink: takes the packets.
    ///   - pictureRequest: says whether pictures are wanted, too.
    public init(to sink: any PacketSink & Sendable, pictureRequest: PictureRequest) {
        self.sink = sink
        self.pictureRequest = pictureRequest
    }
}

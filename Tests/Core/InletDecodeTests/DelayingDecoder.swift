import InletCore

/// A decoder that outputs a picture for each packet, once it has some of the next packets.
final class DelayingDecoder: VideoDecoder {
    private let size: ImageSize
    private let delay: Int
    let reorderDepth: Int
    private var packets: [SourcePacket] = []
    private var isDraining = false
    var skipsNonReferencePictures = false

    /// - Parameters:
    ///   - delay: the number of following packets that it needs.
    ///   - reorderDepth: the number of these that it needs to put pictures in order.
    init(_ size: ImageSize, delay: Int, reorderDepth: Int) {
        (self.size, self.delay, self.reorderDepth) = (size, delay, reorderDepth)
    }

    func open(_ parameters: CodecParameters, _ settings: DecoderSettings) throws {}

    func send(_ packet: SourcePacket) throws -> PacketFault? {
        packets.append(packet)
        return nil
    }

    func receive() throws -> DecoderOutput {
        guard packets.count > (isDraining ? 0 : delay) else { return isDraining ? .ended : .needsPacket }
        let picture = try I420Draft(size: size).publish()
        let packet = packets.removeFirst()
        return .picture(SourceFrame(picture, pts: packet.pts, sequence: 0, flags: packet.isKey ? .key : []))
    }

    func drain() { isDraining = true }
    func reset() { (packets, isDraining) = ([], false) }
}

import InletCore

// Unsafe: copies a packet's data.
/// Marks a packet of a stream that announces no random access points as one, for the decoder.
///
/// libavcodec returns no picture of H.264, or marks each as corrupt, until it has seen an IDR picture or a recovery
/// point. libavcodec 7.1 and later treats H.265 likewise.
enum RecoveryPoint {
    /// Returns the packet with the stream's parameter sets and a recovery point before it; the packet itself if its
    /// codec has no recovery points.
    ///
    /// - Parameter codecHeader: the stream's parameter sets, with start codes or as an `avcC` or `hvcC` record.
    static func marked(_ packet: SourcePacket, codecHeader: [UInt8]) -> SourcePacket {
        let message: [UInt8]
        switch packet.parameters.codec {
        case .h264: message = h264
        case .hevc: message = hevc
        default: return packet
        }
        var prefix: [UInt8]
        if let size = NonReferencePicture.lengthSize(packet.parameters.codec, codecHeader: codecHeader) {
            prefix = [UInt8](repeating: 0, count: size - 1) + [UInt8(message.count)]
        } else {
            prefix = codecHeader + [0, 0, 0, 1]
        }
        prefix += message
        var marked = packet
        marked.data = unsafe packet.data.bytes.withUnsafeBytes { data in
            unsafe prefix.withUnsafeBytes { unsafe PacketData(copying: [$0, data]) }
        }
        return marked
    }

    /// H.264, sections 7.3.2.3 and D.1.8: an SEI unit with the message 6 of one byte, by which no more pictures are
    /// needed (1), what follows is exact (1), no link is broken (0), and slice groups do not change (00).
    private static let h264: [UInt8] = [0x06, 6, 1, 0b1100_0100, 0x80]
    /// H.265, sections 7.3.2.4 and D.2.8: a prefix SEI unit, likewise but for slice groups.
    private static let hevc: [UInt8] = [39 << 1, 1, 6, 1, 0b1101_0000, 0x80]
}

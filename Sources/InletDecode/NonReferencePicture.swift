import InletCore

/// Finds pictures that no other picture refers to, by the first slice of their packets.
enum NonReferencePicture {
    /// Whether no other picture refers to the packet's. False, too, where the packet does not tell, and for codecs other than H.264 and HEVC.
    static func isIn(_ packet: SourcePacket) -> Bool {
        switch packet.parameters.codec {
        // ITU-T H.264, 7.4.1: nal_ref_idc of slices (types 1 and 5).
        case .h264:
            firstUnit(of: packet) { [1, 5].contains($0 & 0x1F) }.map { $0 & 0x60 == 0 } ?? false
        // ITU-T H.265, table 7-1: types below 32 are slices, and of those below 16 the even ones are of no reference within their sub-layer.
        // Without sub-layers, which no camera sends otherwise than with every type odd, none refers to them.
        case .hevc:
            firstUnit(of: packet) { $0 & 0x80 == 0 && $0 >> 1 < 32 }.map { $0 >> 1 < 16 && $0 >> 1 & 1 == 0 } ?? false
        default: false
        }
    }

    /// The first byte of the first NAL unit that is a slice.
    private static func firstUnit(of packet: SourcePacket, isSlice: (UInt8) -> Bool) -> UInt8? {
        let bytes = packet.data.bytes
        let header = packet.parameters.extraData
        // ISO/IEC 14496-15: avcC and hvcC begin with 1 and tell the length of lengths; all else has start codes.
        let isLengths = header.first == 1
        let place = packet.parameters.codec == .h264 ? 4 : 21
        let lengthSize = isLengths && header.count > place ? Int(header[place] & 3) + 1 : 4
        var index = 0
        while index < min(bytes.count, mostBytes) {
            if isLengths {
                guard index + lengthSize < bytes.count else { return nil }
                let length = (index..<index + lengthSize).reduce(0) { $0 << 8 | Int(bytes[$1]) }
                index += lengthSize
                if isSlice(bytes[index]) { return bytes[index] }
                index += length
            } else {
                guard index + 3 < bytes.count else { return nil }
                if bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 {
                    if isSlice(bytes[index + 3]) { return bytes[index + 3] }
                    index += 3
                } else {
                    index += 1
                }
            }
        }
        return nil
    }

    /// What stands before the first slice is short: parameter sets and messages.
    private static let mostBytes = 4096
}

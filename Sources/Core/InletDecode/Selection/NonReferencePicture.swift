import InletCore

/// Finds pictures that no other picture refers to, by the first slice of their packets.
enum NonReferencePicture {
    /// Whether no other picture refers to the packet's, as H.264 states. False if the packet does not state it, and for
    /// other codecs: HEVC states it only within a temporal layer.
    ///
    /// - Parameter codecHeader: the stream's parameter sets, with start codes or as an `avcC` record.
    static func isIn(_ packet: SourcePacket, codecHeader: [UInt8]) -> Bool {
        guard packet.parameters.codec == .h264 else { return false }
        let bytes = packet.data.bytes
        // ISO/IEC 14496-15: an avcC record begins with 1 and has the size of length fields in its fifth byte.
        let lengthSize = codecHeader.count > 4 && codecHeader[0] == 1 ? Int(codecHeader[4] & 3) + 1 : nil
        var index = 0
        while index < min(bytes.count, mostBytes) {
            let unit: Int
            if let lengthSize {
                unit = index + lengthSize
                guard unit < bytes.count else { return false }
                index = unit + (index..<unit).reduce(0) { $0 << 8 | Int(bytes[$1]) }
            } else {
                guard index + 3 < bytes.count else { return false }
                guard bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 else {
                    index += 1
                    continue
                }
                unit = index + 3
                index = unit
            }
            // ITU-T H.264, 7.3.1: nal_ref_idc and nal_unit_type, of which 1 and 5 are slices.
            if [1, 5].contains(bytes[unit] & 0x1F) { return bytes[unit] & 0x60 == 0 }
        }
        return false
    }

    /// The data before the first slice is short: parameter sets and messages.
    private static let mostBytes = 4096
}

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
        let lengthSize = lengthSize(.h264, codecHeader: codecHeader)
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

    /// Returns the size of the length fields before NAL units; nil if there are start codes instead.
    static func lengthSize(_ codec: VideoCodec, codecHeader: [UInt8]) -> Int? {
        // ISO/IEC 14496-15: an avcC or hvcC record begins with 1, and has the size in its fifth or 22nd byte.
        let place = codec == .hevc ? 21 : 4
        guard codecHeader.count > place, codecHeader[0] == 1 else { return nil }
        return Int(codecHeader[place] & 3) + 1
    }

    /// The data before the first slice is short: parameter sets and messages.
    private static let mostBytes = 4096
}

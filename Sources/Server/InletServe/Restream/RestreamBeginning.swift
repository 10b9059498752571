package import InletCore

/// The facts that the first key frame shows about a reader's packets. Pure.
package struct RestreamBeginning: Sendable {
    package var parameters: CodecParameters
    /// Whether the packets contain parameter sets. If so, the RTSP server adds none.
    package var hasParameterSets: Bool

    /// The limit for the search. Only parameter sets and messages precede the first slice, and they are short.
    private static let mostBytes = 4096

    init(_ parameters: CodecParameters, keyFrame: EncodedPacket) {
        self.parameters = parameters
        hasParameterSets = parameters.hasStartCodes && Self.hasSequenceSet(keyFrame.data.bytes, parameters.codec)
    }

    /// Whether a sequence parameter set follows one of the first start codes (ITU-T H.264, B.1 and 7.3.1; H.265,
    /// 7.3.1.2).
    private static func hasSequenceSet(_ bytes: Span<UInt8>, _ codec: VideoCodec) -> Bool {
        guard codec == .h264 || codec == .hevc else { return false }
        let end = min(bytes.count, mostBytes)
        var index = 0
        while index + 3 < end {
            guard bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 else {
                index += 1
                continue
            }
            let unit = bytes[index + 3]
            if codec == .h264 ? unit & 0x1F == 7 : unit >> 1 & 0x3F == 33 { return true }
            index += 3
        }
        return false
    }
}

extension CodecParameters {
    /// Whether the packets are a byte stream with start codes. Otherwise their units are preceded by lengths (ISO/IEC
    /// 14496-15), and the record begins with 1.
    package var hasStartCodes: Bool { extraData.first != 1 }
}

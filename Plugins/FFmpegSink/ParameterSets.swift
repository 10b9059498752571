import InletCore

/// The parameter sets of an H.264 or HEVC encoder, for streams that a viewer may join at any key frame: they must then
/// precede each.
struct ParameterSets {
    private let bytes: [UInt8]
    private let isHEVC: Bool

    /// Nil if the codec has none, or if they are in a container's record, which libavformat unpacks itself.
    init?(_ parameters: CodecParameters) {
        let bytes = parameters.extraData
        guard [.h264, .hevc].contains(parameters.codec),
            bytes.starts(with: [0, 0, 1]) || bytes.starts(with: [0, 0, 0, 1])
        else { return nil }
        self.bytes = bytes
        isHEVC = parameters.codec == .hevc
    }

    /// Returns a key frame's data with the parameter sets in front, after a delimiter, which nothing may precede;
    /// unchanged if it has some already.
    func added(to data: PacketData) -> PacketData {
        let packet = data.bytes
        var place = 0
        var isBehindDelimiter = false
        var position = 0
        scan: while let unit = nextUnit(in: packet, from: position) {
            if isBehindDelimiter { (place, isBehindDelimiter) = (unit.start, false) }
            switch unit.kind {
            case .delimiter: isBehindDelimiter = true
            case .sequenceParameters: return data
            case .slice: break scan
            case .other: break
            }
            position = unit.header
        }
        var joined: [UInt8] = []
        joined.reserveCapacity(bytes.count + packet.count)
        for index in 0..<place { joined.append(packet[index]) }
        joined += bytes
        for index in place..<packet.count { joined.append(packet[index]) }
        return PacketData(joined)
    }

    private enum Kind { case delimiter, sequenceParameters, slice, other }

    /// Returns the next NAL unit: where its start code begins, where its header is, and its type by H.264 table 7-1 and
    /// H.265 table 7-1.
    private func nextUnit(in packet: Span<UInt8>, from position: Int) -> (start: Int, header: Int, kind: Kind)? {
        var index = position
        while index + 3 < packet.count {
            guard packet[index] == 0, packet[index + 1] == 0, packet[index + 2] == 1 else {
                index += 1
                continue
            }
            let start = index > position && packet[index - 1] == 0 ? index - 1 : index
            let type = isHEVC ? packet[index + 3] >> 1 & 0x3f : packet[index + 3] & 0x1f
            let kind: Kind =
                switch (isHEVC, type) {
                case (false, 9), (true, 35): .delimiter
                case (false, 7), (true, 33): .sequenceParameters
                case (false, 1...5), (true, 0...31): .slice
                default: .other
                }
            return (start, index + 3, kind)
        }
        return nil
    }
}

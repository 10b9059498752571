package import InletCore

extension SourcePacket {
    /// Makes the packet of an access unit.
    ///
    /// - Parameters:
    ///   - parameters: the parameters of the stream.
    ///   - isStart: whether decoding may start at the unit.
    package init(_ item: MediaStream.Unit, _ parameters: CodecParameters, isStart: Bool) {
        let unit = item.unit
        // No picture from a key frame on refers to earlier pictures, so an earlier loss does not matter. Pictures that
        // are decoded after a key frame of HEVC or MPEG and shown before it may do so.
        let beginsAnew = unit.isKey && [.h264, .mjpeg, .av1, .vp8, .vp9].contains(parameters.codec)
        var flags: PacketFlags = isStart ? .key : []
        if item.isDiscontinuity { flags.insert(.discontinuity) }
        if unit.isDamaged || unit.isAfterLoss && !beginsAnew { flags.insert(.loss) }
        self.init(
            parameters: parameters, data: unit.data, pts: MediaTime(ticks: item.ticks, timeBase: parameters.timeBase),
            dts: nil, flags: flags)
        receiveTime = unit.lastArrival
        wallClock = item.wallClock
    }
}

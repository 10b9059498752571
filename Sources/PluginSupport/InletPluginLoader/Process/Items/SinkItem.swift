import CInletPlugin
import InletCore

/// A picture or packet on its way to a sink of a plug-in.
struct SinkItem {
    /// The content.
    enum Content {
        case picture(I420Buffer)
        /// A packet, and the parameter sets that are valid from it on.
        case packet(PacketData)
    }

    var content: Content
    var flags: UInt32
    var sequence: UInt64
    var pts: Int64
    var dts: Int64
    var duration: Int64
    var captureTime: Int64
    var wallClock: Int64
    var rotation: Rotation
    var color: ColorSpace
    var aspectRatio: Rational?

    /// - Parameter timeBase: the one announced to the sink.
    init(_ frame: VideoFrame, timeBase: Rational) {
        content = .picture(frame.buffer)
        flags = UInt32(INLET_FLAG_KEY)
        if frame.flags.contains(.corrupt) { flags |= UInt32(INLET_FLAG_CORRUPT) }
        if frame.flags.contains(.discontinuity) { flags |= UInt32(INLET_FLAG_DISCONTINUITY) }
        sequence = frame.sequence
        pts = frame.pts?.rescaled(to: timeBase).ticks ?? .min
        dts = .min
        duration = frame.duration?.rescaled(to: timeBase).ticks ?? 0
        captureTime = frame.timestamp.nanoseconds
        wallClock = frame.wallClock ?? .min
        (rotation, color, aspectRatio) = (frame.rotation, frame.colorSpace, frame.sampleAspectRatio)
    }

    /// - Parameters:
    ///   - sequence: the number of the packet.
    ///   - parameters: those announced to the sink.
    init(_ packet: EncodedPacket, sequence: UInt64, _ parameters: CodecParameters) {
        content = .packet(packet.data)
        flags = packet.isKey ? UInt32(INLET_FLAG_KEY) : 0
        self.sequence = sequence
        pts = packet.pts.rescaled(to: parameters.timeBase).ticks
        dts = packet.dts.rescaled(to: parameters.timeBase).ticks
        duration = packet.duration?.rescaled(to: parameters.timeBase).ticks ?? 0
        captureTime = packet.captureTime.nanoseconds
        wallClock = .min
        (rotation, color, aspectRatio) = (
            parameters.rotation, parameters.colorSpace, parameters.sampleAspectRatio
        )
    }
}

import CInletPlugin
import InletCore
import InletPluginIPC

/// The statements of a source's child about its stream, beyond those for which `inlet_plugin_protocol.h` has room.
///
/// The opened stream is followed by ``Facts``; a packet with new parameters is followed by an `inlet_wire_stream`,
/// ``Extras`` and the parameter sets.
enum SourceStatement {
    /// The facts of a stream that are sent once, as bytes: two numbers, the codec, a zero byte and the container.
    struct Facts: Equatable {
        var hasPackets = false
        var isBroadcast: Bool?
        var codec: String?
        var container: String?

        init(_ format: SourceFormat) {
            (hasPackets, isBroadcast) = (format.hasPackets, format.isBroadcast)
            (codec, container) = (format.codec, format.container)
        }

        init?(_ bytes: [UInt8]) {
            guard bytes.count >= 3, bytes[0] <= 1, bytes[1] <= 2 else { return nil }
            hasPackets = bytes[0] == 1
            isBroadcast = bytes[1] == 2 ? nil : bytes[1] == 1
            let texts = bytes[2...].split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
            guard texts.count == 2, let codec = String(validating: texts[0], as: UTF8.self),
                let container = String(validating: texts[1], as: UTF8.self)
            else { return nil }
            self.codec = codec.isEmpty ? nil : codec.sanitized(limit: 80)
            self.container = container.isEmpty ? nil : container.sanitized(limit: 80)
        }

        var bytes: [UInt8] {
            [hasPackets ? 1 : 0, isBroadcast.map { $0 ? 1 : 0 } ?? 2] + Array((codec ?? "").utf8.prefix(80)) + [0]
                + Array((container ?? "").utf8.prefix(80))
        }
    }

    /// Parameters of packets that `inlet_wire_stream` lacks; -1 for unknown values.
    struct Extras: BitwiseCopyable {
        var profile: Int64 = -1
        var level: Int64 = -1
        var bitrate: Int64 = -1
        var codecTag: UInt64 = 0
        var bitsPerCodedSample: Int64 = 0

        init(_ parameters: CodecParameters) {
            profile = Int64(parameters.profile ?? -1)
            level = Int64(parameters.level ?? -1)
            bitrate = Int64(parameters.bitrate ?? -1)
            codecTag = UInt64(parameters.codecTag)
            bitsPerCodedSample = Int64(parameters.bitsPerCodedSample)
        }

        func apply(to parameters: inout CodecParameters) {
            parameters.profile = profile < 0 ? nil : Int(profile)
            parameters.level = level < 0 ? nil : Int(level)
            parameters.bitrate = bitrate < 0 ? nil : Int(bitrate)
            parameters.codecTag = UInt32(clamping: codecTag)
            parameters.bitsPerCodedSample = Int(clamping: max(0, bitsPerCodedSample))
        }
    }

    /// The most bytes of parameter sets. A message has room for twice as many.
    static let longestParameterSets = 65536

    /// Describes a stream of pictures.
    ///
    /// - Throws: ``InletError/Code/unsupported`` for a time base that does not fit.
    static func opened(_ format: SourceFormat) throws(InletError) -> inlet_wire_stream {
        var stream = CheckedStream.wire(
            size: format.size, timeBase: format.timeBase, frameRate: format.frameRate,
            aspectRatio: format.sampleAspectRatio, color: format.colorSpace, rotation: format.rotation)
        try check(format.timeBase, stream.time_base)
        stream.type = UInt32(INLET_MESSAGE_OPENED)
        stream.pacing = pacing(format.pacing)
        FixedText.write(format.pixelFormat.name, to: &stream.pixel_format)
        stream.timestamp_bits = UInt32(clamping: format.timestampBits ?? 0)
        stream.duration = max(0, format.duration?.rescaled(to: format.timeBase).ticks ?? 0)
        stream.can_pause = 1
        return stream
    }

    /// Describes packets, without their parameter sets.
    static func packets(_ parameters: CodecParameters) throws(InletError) -> inlet_wire_stream {
        let stream = CheckedStream.wire(
            size: parameters.size, timeBase: parameters.timeBase, frameRate: parameters.frameRate,
            aspectRatio: parameters.sampleAspectRatio, color: parameters.colorSpace, rotation: parameters.rotation,
            codec: parameters.codec.rawValue, reorderDepth: parameters.reorderDepth,
            parameterSetsLength: parameters.extraData.count)
        try check(parameters.timeBase, stream.time_base)
        return stream
    }

    private static func pacing(_ pacing: SourcePacing) -> UInt32 {
        switch pacing {
        case .live: UInt32(INLET_PACING_LIVE)
        case .realtime: UInt32(INLET_PACING_REALTIME)
        case .unpaced: UInt32(INLET_PACING_NONE)
        }
    }

    private static func check(_ timeBase: Rational, _ wire: inlet_rational) throws(InletError) {
        guard wire.denominator > 0, wire.numerator > 0 else {
            throw InletError(
                .unsupported,
                "The time base \(timeBase) cannot be sent to another process. Leave out 'process: own' for this source."
            )
        }
    }
}

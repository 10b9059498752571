import CInletPlugin
import InletCore
import InletPluginIPC

// Unsafe: fills in the host's stream and item structs.
/// The properties that an opened source reported, as far as its items depend on them.
struct StreamFacts {
    /// The time base of all times.
    let timeBase: Rational
    /// The codec of the packets; nil for a source of pictures.
    let codec: VideoCodec?
    /// The present parameter sets.
    var parameterSets: [UInt8]

    /// - Throws: ``InletError/Code/unsupported`` for values that `inlet_plugin.h` cannot express.
    init(_ format: SourceFormat) throws(InletError) {
        let parameters = format.packetStream?.parameters
        timeBase = parameters?.timeBase ?? format.timeBase
        codec = parameters?.codec
        parameterSets = parameters?.extraData ?? []
        guard inlet_rational(timeBase).rational != nil else {
            throw InletError(
                .unsupported, "The time base \(timeBase) is not one of positive 32-bit numbers. Take such as 1/90000.")
        }
    }

    /// Fills in a stream for the host.
    ///
    /// - Parameter lent: the memory of the parameter sets; nil without parameter sets.
    func describe(_ format: SourceFormat, in stream: inout inlet_stream, lent: LentMemory?) throws(InletError) {
        let parameters = format.packetStream?.parameters
        let size = parameters?.size ?? format.size
        let pacing =
            switch format.pacing {
            case .live: INLET_PACING_LIVE
            case .realtime: INLET_PACING_REALTIME
            case .unpaced: INLET_PACING_NONE
            }
        unsafe stream.pacing = UInt32(pacing)
        unsafe stream.width = UInt32(clamping: size.width)
        unsafe stream.height = UInt32(clamping: size.height)
        if let codec {
            try unsafe Self.write(codec.rawValue, to: &stream.codec)
        } else {
            try unsafe Self.write(format.pixelFormat.name, to: &stream.pixel_format)
        }
        unsafe stream.time_base = inlet_rational(timeBase)
        unsafe stream.frame_rate = inlet_rational(parameters?.frameRate ?? format.frameRate)
        unsafe stream.sample_aspect_ratio = inlet_rational(
            parameters?.sampleAspectRatio ?? format.sampleAspectRatio)
        unsafe stream.color = inlet_color(parameters?.colorSpace ?? format.colorSpace)
        unsafe stream.rotation = UInt32((parameters?.rotation ?? format.rotation).rawValue)
        unsafe stream.timestamp_bits = UInt32(clamping: format.timestampBits ?? 0)
        unsafe stream.reorder_depth = UInt32(clamping: parameters?.reorderDepth ?? 0)
        unsafe stream.parameter_sets =
            lent.map { unsafe UnsafePointer($0.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)) } ?? nil
        unsafe stream.parameter_sets_length = UInt64(lent?.bytes.count ?? 0)
        unsafe stream.duration = max(0, format.duration?.rescaled(to: timeBase).ticks ?? 0)
    }

    /// Writes one of FFmpeg's names.
    ///
    /// - Throws: ``InletError/Code/unsupported`` if there is no room for it.
    static func write<Storage: BitwiseCopyable>(_ name: String, to storage: inout Storage) throws(InletError) {
        guard name.utf8.count < MemoryLayout<Storage>.size else {
            throw InletError(.unsupported, "The name '\(name)' is longer than any of FFmpeg's.")
        }
        FixedText.write(name, to: &storage)
    }

    /// Returns a time in ticks of the stream; the value for an unknown time if nil.
    func ticks(_ time: MediaTime?) -> Int64 { time.map { $0.rescaled(to: timeBase).ticks } ?? .min }

    /// Returns a duration in ticks of the stream; 0, which means unknown, for nil.
    func length(_ time: MediaTime?) -> Int64 { max(0, time.map { $0.rescaled(to: timeBase).ticks } ?? 0) }
}

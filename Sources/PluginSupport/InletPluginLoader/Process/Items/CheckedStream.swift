import CInletPlugin
import InletCore
import InletPluginIPC

/// A stream as a plug-in described it, after all its values were checked.
struct CheckedStream {
    /// The source's description of itself.
    let format: SourceFormat
    /// Whether the source can pause.
    let canPause: Bool

    /// - Parameters:
    ///   - stream: the plug-in's description.
    ///   - parameterSets: the parameter sets of the codec.
    ///   - name: the plug-in's name.
    ///   - mayLackSize: whether 0x0 is allowed, meaning that the first picture states the size. The default is false.
    init(
        _ stream: inlet_wire_stream, parameterSets: [UInt8], name: String, mayLackSize: Bool = false
    ) throws(PluginLie) {
        canPause = stream.can_pause != 0
        let pacings: [SourcePacing] = [.live, .realtime, .unpaced]
        guard pacings.indices.contains(Int(stream.pacing)) else {
            throw PluginLie("stated the unknown pacing \(stream.pacing)")
        }
        guard let timeBase = try WireValues.ratio(stream.time_base, "time base") else {
            throw PluginLie("stated no time base")
        }
        let codec = try WireValues.name(stream.codec, "codec")
        let pixelFormat = try WireValues.name(stream.pixel_format, "pixel format")
        guard codec != nil || pixelFormat != nil else { throw PluginLie("stated neither a pixel format nor a codec") }
        let isUnknown = stream.width == 0 && stream.height == 0
        // The size of compressed pictures may be known only from the first packet on.
        let size =
            isUnknown && (codec != nil || mayLackSize)
            ? ImageSize(width: 0, height: 0) : try WireValues.size(stream.width, stream.height)
        guard stream.timestamp_bits <= 64, stream.reorder_depth <= 64 else {
            throw PluginLie(
                "stated PTS of \(stream.timestamp_bits) bits, and a reordering of \(stream.reorder_depth) pictures")
        }
        let duration = try WireValues.duration(stream.duration)
        var format = SourceFormat(
            size: size, pixelFormat: PixelFormat(pixelFormat ?? "yuv420p"),
            frameRate: try WireValues.ratio(stream.frame_rate, "frame rate"), timeBase: timeBase,
            colorSpace: try WireValues.color(stream.color) ?? .unspecified,
            rotation: try WireValues.rotation(stream.rotation),
            sampleAspectRatio: try WireValues.ratio(stream.sample_aspect_ratio, "sample aspect ratio"),
            pacing: pacings[Int(stream.pacing)],
            duration: duration.map { MediaTime(ticks: $0, timeBase: timeBase) }, codec: codec, container: name,
            timestampBits: (8..<64).contains(stream.timestamp_bits) ? Int(stream.timestamp_bits) : nil)
        if let codec {
            var parameters = CodecParameters(
                codec: VideoCodec(rawValue: codec), size: size, timeBase: timeBase, frameRate: format.frameRate,
                colorSpace: format.colorSpace, rotation: format.rotation,
                sampleAspectRatio: format.sampleAspectRatio, extraData: parameterSets)
            parameters.reorderDepth = Int(stream.reorder_depth)
            format.packetStream = PacketStream(parameters)
        }
        self.format = format
    }

    /// Returns a stream for a sink, without its deadline.
    ///
    /// - Parameters:
    ///   - size: the pictures' size.
    ///   - codec: FFmpeg's name, for packets; nil for pictures in I420.
    static func wire(
        size: ImageSize, timeBase: Rational, frameRate: Rational?, aspectRatio: Rational?, color: ColorSpace,
        rotation: Rotation, codec: String? = nil, reorderDepth: Int = 0, parameterSetsLength: Int = 0
    ) -> inlet_wire_stream {
        var stream = inlet_wire_stream()
        stream.pacing = UInt32(INLET_PACING_LIVE)
        stream.width = UInt32(clamping: size.width)
        stream.height = UInt32(clamping: size.height)
        if let codec {
            FixedText.write(codec, to: &stream.codec)
        } else {
            FixedText.write("yuv420p", to: &stream.pixel_format)
        }
        stream.time_base = WireValues.ratio(timeBase)
        stream.frame_rate = WireValues.ratio(frameRate)
        stream.sample_aspect_ratio = WireValues.ratio(aspectRatio)
        stream.color = WireValues.color(color)
        stream.rotation = UInt32(rotation.rawValue)
        stream.reorder_depth = UInt32(clamping: reorderDepth)
        stream.parameter_sets_length = UInt32(clamping: parameterSetsLength)
        return stream
    }
}

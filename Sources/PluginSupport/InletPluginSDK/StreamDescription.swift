import CInletPlugin
import InletCore
import InletPluginIPC

// Unsafe: reads the host's stream struct.
/// The host's description of the stream that a sink gets.
struct StreamDescription {
    private let size: ImageSize
    private let frameRate: Rational?
    private let aspectRatio: Rational?
    private let color: ColorSpace
    private let rotation: Rotation

    /// - Throws: ``InletError/Code/internal`` for a rotation other than 0, 90, 180 or 270 degrees.
    init(_ stream: inlet_stream) throws(InletError) {
        guard let rotation = unsafe Rotation(rawValue: Int(stream.rotation)) else {
            throw InletError(.internal, "The host describes a stream that is rotated by other than quarter turns.")
        }
        self.rotation = rotation
        size = unsafe ImageSize(width: Int(stream.width), height: Int(stream.height))
        frameRate = unsafe stream.frame_rate.rational
        aspectRatio = unsafe stream.sample_aspect_ratio.rational
        color = unsafe ColorSpace(stream.color)
    }

    /// The format of pictures.
    func format(timeBase: Rational) -> VideoFormat {
        VideoFormat(
            size: size, timeBase: timeBase, frameRate: frameRate, colorSpace: color, rotation: rotation,
            sampleAspectRatio: aspectRatio)
    }

    /// The parameters of packets.
    ///
    /// - Throws: ``InletError/Code/internal`` if the stream has no codec.
    func parameters(of stream: inlet_stream, timeBase: Rational) throws(InletError) -> CodecParameters {
        guard let codec = unsafe FixedText.text(stream.codec), !codec.isEmpty else {
            throw InletError(.internal, "The host describes pictures to a sink of packets.")
        }
        let sets = unsafe UnsafeBufferPointer(
            start: stream.parameter_sets,
            count: stream.parameter_sets == nil ? 0 : Int(clamping: stream.parameter_sets_length))
        var parameters = unsafe CodecParameters(
            codec: VideoCodec(rawValue: codec), size: size, timeBase: timeBase, frameRate: frameRate,
            colorSpace: color, rotation: rotation, sampleAspectRatio: aspectRatio, extraData: Array(sets))
        parameters.reorderDepth = unsafe Int(stream.reorder_depth)
        return parameters
    }
}

extension ColorSpace {
    /// Makes a colour space from its codes.
    init(_ color: inlet_color) {
        self.init(
            primaries: .init(rawValue: color.primaries), transfer: .init(rawValue: color.transfer),
            matrix: .init(rawValue: color.matrix),
            range: color.range == 1 ? .limited : color.range == 2 ? .full : .unspecified)
    }
}

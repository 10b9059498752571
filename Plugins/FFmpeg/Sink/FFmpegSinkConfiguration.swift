public import InletCore

/// Encodes pictures and writes or sends them: `mp4:out.mp4`, `rtmp://server/app/key`.
public struct FFmpegSinkConfiguration: FrameSinkConfiguration {
    /// The settings of the encoder.
    public let encoder: EncoderSettings
    /// The destination of the packets.
    public let output: FFmpegOutput
    /// The filters for pictures that they would change. The default is the empty set.
    public var filters: PictureFilters = []
    private let series = FileSeries()

    /// Creates a configuration.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for settings out of range and combinations that cannot work;
    ///   ``InletError/Code/unsupported`` if this libavcodec has no encoder for the codec.
    public init(_ encoder: EncoderSettings, to output: FFmpegOutput) throws(InletError) {
        do throws(InletError) {
            try output.validate()
            _ = try EncoderTuning(encoder)
            guard output.container.codecs.contains(encoder.codec) else {
                throw InletError(
                    .invalidConfiguration,
                    "\(output.container.rawValue): does not support \(encoder.codec). It supports "
                        + "\(output.container.codecs.map(\.rawValue).joined(separator: ", ")).")
            }
        } catch {
            throw error.about(output.redactedURI)
        }
        self.encoder = encoder
        self.output = output
    }

    /// The sink's URI, without credentials.
    public var redactedURI: String { output.redactedURI }

    /// Returns a sink with this configuration. Nothing is opened yet.
    public func makeSink() -> any FrameSink {
        var wants = SinkWants(rotation: output.container.carriesRotation ? .metadata : .applied)
        wants.filters = filters
        return EncodingSink(
            FFmpegVideoEncoder(), encoder, to: FFmpegPacketSink(output, series: series), wants: wants)
    }
}

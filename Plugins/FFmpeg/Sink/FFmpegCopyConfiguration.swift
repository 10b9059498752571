public import InletCore

/// Writes or sends the source's own packets, without decoding: `mp4:out.mp4?codec=copy`.
///
/// The first packet is a key frame. If the source reconnects with other parameters, a new file begins.
public struct FFmpegCopyConfiguration: PacketSinkConfiguration {
    /// The destination of the packets.
    public let output: FFmpegOutput
    private let series = FileSeries()

    /// Creates a configuration.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration``, as ``FFmpegOutput/validate()``.
    public init(to output: FFmpegOutput) throws(InletError) {
        try output.validate()
        self.output = output
    }

    /// The sink's URI, without credentials.
    public var redactedURI: String { output.redactedURI }

    /// Returns a packet sink with this configuration. Nothing is opened yet.
    public func makePacketSink() -> any PacketSink { FFmpegPacketSink(output, series: series) }

    /// Returns a sink that rejects pictures.
    public func makeSink() -> any FrameSink { Refusal(subject: redactedURI) }

    private final class Refusal: FrameSink {
        let subject: String

        init(subject: String) { self.subject = subject }

        func start(_ format: VideoFormat, _ context: SinkContext) throws {
            throw InletError(
                .invalidConfiguration, "codec=copy needs packets, but the source delivers pictures. Name a codec.",
                context: .init(subject: subject))
        }
        func consume(_ frame: VideoFrame) {}
    }
}

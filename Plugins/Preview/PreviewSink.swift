import InletCore
import InletFFmpeg
import InletHTTPServer
import Logging

/// Serves the latest frames to browsers.
final class PreviewSink: FrameSink {
    private let configuration: PreviewSinkConfiguration
    private let encoder: JPEGEncoder
    private let logger: Logger
    private var server: PreviewServer?

    init(_ configuration: PreviewSinkConfiguration, logger: Logger = Logger(label: "inlet.preview")) {
        self.configuration = configuration
        self.logger = logger
        encoder = JPEGEncoder(quality: configuration.quality)
    }

    var wants: SinkWants {
        var wants = SinkWants(
            largestSize: configuration.largestSize, rotation: .applied, squarePixels: true,
            maximumFrameRate: configuration.frameRate)
        wants.filters = configuration.filters
        return wants
    }

    /// Nothing is converted while there are no viewers.
    var takesFrames: Bool { server?.isWatched ?? false }

    func start(_ format: VideoFormat, _ context: SinkContext) throws {
        do throws(InletError) {
            try configuration.validate()
            let server = try PreviewServer(configuration, context: context, logger: logger)
            let pages = HTTPListener.pages(of: configuration.access, at: server.address)
            logger.notice("The preview is at \(pages)")
            self.server = server
        } catch {
            throw error.about(configuration.redactedURI)
        }
    }

    func consume(_ frame: VideoFrame) throws {
        guard let server, server.isWatched else { return }
        do throws(InletError) {
            try encoder.encode(frame.buffer, colorSpace: frame.colorSpace) { server.publish($0) }
        } catch {
            throw error.about(configuration.redactedURI)
        }
    }

    func finish() throws {
        server?.stop()
        server = nil
    }
}

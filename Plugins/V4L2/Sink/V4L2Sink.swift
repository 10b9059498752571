import CV4L2
import InletCore
import InletV4L2

/// Writes frames to a device that other programs read as a camera.
final class V4L2Sink: FrameSink {
    private let configuration: V4L2SinkConfiguration
    private var output: OutputDevice?
    private var size = ImageSize(width: 0, height: 0)

    init(_ configuration: V4L2SinkConfiguration) { self.configuration = configuration }

    /// A device states neither a rotation nor a pixel shape.
    var wants: SinkWants { SinkWants(rotation: .applied, squarePixels: true) }

    func start(_ format: VideoFormat, _ context: SinkContext) throws {
        size = format.size
        do throws(InletError) {
            let device = try V4L2Device(node: V4L2Devices.find(configuration.address, .output).node)
            output = try OutputDevice(device, format, configuration)
        } catch {
            throw error.about(configuration.redactedURI)
        }
    }

    func consume(_ frame: VideoFrame) throws {
        guard frame.size == size else {
            throw InletError(
                .unsupported,
                "The picture changed from \(size) to \(frame.size), which readers of the device cannot follow. Scale with --size.",
                context: .init(subject: configuration.redactedURI, sequence: frame.sequence))
        }
        do throws(InletError) {
            try output?.write(frame)
        } catch {
            throw error.about(configuration.redactedURI)
        }
    }

    func finish() throws {
        output?.close()
        output = nil
    }
}

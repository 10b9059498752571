import FoundationEssentials
import InletCapture
import InletCore
import InletFFmpeg
import Logging

// Unsafe: copies the bytes of an encoded picture.
/// Opens a source for one picture, to show a camera before it is added. Stores nothing. Safe from any thread.
struct TryOut: Sendable {
    let registry: PluginRegistry
    let logger: Logger

    /// The time limit for a picture, including opening the source.
    private static let limit = Duration.seconds(12)
    private static let largestSize = ImageSize(width: 1280, height: 720)

    /// The picture of a source and its format.
    struct Picture: Sendable {
        var format: SourceFormat
        /// The original size of the source's pictures.
        var size: ImageSize
        var jpeg: [UInt8]

        /// The picture and the format as the API shows them.
        var json: JSONValue {
            .object([
                ("width", .number(size.width)), ("height", .number(size.height)),
                ("frameRate", format.frameRate.map { .number($0.doubleValue) } ?? .null),
                ("codec", format.codec.map { .text($0) } ?? .null),
                ("container", format.container.map { .text($0) } ?? .null),
                ("picture", .text(Data(jpeg).base64EncodedString())),
            ])
        }
    }

    /// Opens a source and returns its first picture. Supports cancellation.
    ///
    /// - Throws: an ``InletError`` with the reason why there is no picture.
    func picture(of source: any FrameSourceConfiguration) async throws(InletError) -> Picture {
        var configuration = CapturerConfiguration()
        configuration.filters = registry.filters
        // The first failure shows the problem; the person can try again.
        configuration.retry = .attempts(0)
        configuration.timeouts.giveUp = Self.limit
        configuration.logger = logger
        let capturer = Capturer(source, configuration: configuration)
        let events = capturer.events
        let formats = Task {
            for await case .opened(let format) in events { return Optional(format) }
            return nil
        }
        defer { formats.cancel() }
        var wants = SinkWants(largestSize: Self.largestSize, rotation: .applied, squarePixels: true)
        wants.filters = .all
        do {
            let frame = try await capturer.run(queue: .latest, wants: wants) { frames in
                for try await frame in frames { return Optional(frame) }
                return nil
            }
            guard let frame, let format = await formats.value else {
                throw InletError(.malformedData, "The source ended before its first picture. Check its address.")
            }
            let jpeg = try JPEGEncoder(quality: 80).encode(frame.buffer, colorSpace: frame.colorSpace) { bytes in
                unsafe bytes.withUnsafeBytes { unsafe Array($0) }
            }
            let isKnown = format.size.width > 0
            return Picture(format: format, size: isKnown ? format.size : frame.size, jpeg: jpeg)
        } catch {
            throw InletError(wrapping: error, operation: "opening")
        }
    }
}

import InletConvert
import InletCore
import InletRTC

/// The encoders used by viewers. Each is opened when a viewer needs it and closed when none does. For one thread.
final class ViewerEncoders {
    private let makeEncoder: @Sendable () -> any VideoEncoder
    private let settings: EncoderSettings
    private let hub: ViewerHub
    private let tiers: Int
    private var running: [EncodingID: RunningEncoding] = [:]
    private var rate: Rational?
    private var size: ImageSize?
    private let converter = FrameConverter()
    private var pools: [ImageSize: I420BufferPool] = [:]
    /// The number of pictures; each is released when the encoder has read it.
    private static let pictures = 4

    init(_ configuration: WebRTCSinkConfiguration, hub: ViewerHub) {
        makeEncoder = configuration.makeEncoder
        tiers = configuration.tiers
        var settings = EncoderSettings(
            preset: .conversation, keyFrameInterval: .seconds(10), threads: configuration.threads)
        settings.profile = .constrainedBaseline
        self.settings = settings
        self.hub = hub
    }

    /// Returns the codecs that can be sent: GStreamer packetizes them, and the encoder opens for them.
    ///
    /// - Throws: ``InletError/Code/unsupported`` if no codec can be sent.
    static func usable(
        of codecs: [VideoCodec], makeEncoder: () -> any VideoEncoder
    ) throws(InletError) -> [ViewerPipeline] {
        let format = VideoFormat(
            size: ImageSize(width: 128, height: 128), timeBase: Rational(1, 90_000), frameRate: Rational(30))
        let usable = codecs.compactMap { codec -> ViewerPipeline? in
            guard let pipeline = ViewerPipeline(codec), pipeline.isAvailable else { return nil }
            let settings = EncoderSettings(codec: codec, rate: .bitrate(500_000), preset: .conversation, threads: 1)
            let encoder = makeEncoder()
            guard (try? encoder.open(format, settings)) != nil else { return nil }
            _ = try? encoder.flush()
            return pipeline
        }
        guard usable.isEmpty else { return usable }
        throw InletError(
            .unsupported,
            "Cannot encode and packetize any of \(codecs.map(\.rawValue).joined(separator: ", ")). Try codecs=h264 or vp8."
        )
    }

    func start(_ format: VideoFormat, most frameRate: Rational?) {
        rate = format.frameRate.map { rate in frameRate.map { min($0, rate) } ?? rate } ?? frameRate
        begin(format.size)
    }

    private func begin(_ size: ImageSize) {
        self.size = size
        pools = [:]
        hub.start(PictureLadder(size: size, frameRate: rate, tiers: tiers))
    }

    /// Whether a picture is useful, because it has viewers or because it closes unused encoders.
    var takesFrames: Bool { hub.isWatched || !running.isEmpty }

    /// Encodes a picture for all current viewers.
    func consume(_ frame: VideoFrame) throws {
        if frame.size != size { begin(frame.size) }
        let orders = hub.orders(at: frame.timestamp)
        for (id, encoding) in running where !orders.contains(where: { $0.encoding == id }) {
            encoding.close()
            running[id] = nil
        }
        var scaled: [ImageSize: VideoFrame] = [:]
        for order in orders {
            let id = order.encoding
            let encoding = running[id] ?? makeEncoding(id)
            guard !order.isPaused else { continue }
            guard encoding.takes(order.step, wantsKeyFrame: order.wantsKeyFrame) else { continue }
            let size = order.step.size(of: frame.size)
            let picture = try scaled[size] ?? scale(frame, to: size)
            scaled[size] = picture
            let packets = try encoding.encode(picture, order, rate: rate) { hub.restart(id) }
            for packet in packets {
                hub.write(packet, of: id, parameterSets: encoding.parameterSets, rotation: frame.rotation)
            }
        }
    }

    private func makeEncoding(_ id: EncodingID) -> RunningEncoding {
        var settings = settings
        settings.codec = id.codec
        let encoding = RunningEncoding(makeEncoder(), settings)
        running[id] = encoding
        return encoding
    }

    private func scale(_ frame: VideoFrame, to size: ImageSize) throws -> VideoFrame {
        guard size != frame.size else { return frame }
        let pool = pools[size] ?? I420BufferPool(capacity: Self.pictures)
        pools[size] = pool
        var scaled = frame
        scaled.buffer = try converter.scaled(frame.buffer, to: size, pool: pool)
        scaled.colorSpace.matrix = frame.colorSpace.assumed(for: frame.size).matrix
        return scaled
    }

    func finish() {
        for encoding in running.values { encoding.close() }
        running = [:]
    }
}

import InletCore
import InletRTC

/// An encoder and the settings with which it was opened. For one thread.
final class RunningEncoding {
    private let encoder: any VideoEncoder
    private var settings: EncoderSettings
    private var format: VideoFormat?
    private var pictures = 1
    private var count = 0
    private var steers = true
    private var opened: MonotonicTime?
    /// The parameter sets that precede key frames.
    private(set) var parameterSets: [UInt8] = []

    /// The conditions for reopening an encoder that cannot change its bit rate: a rate that is lower by the
    /// fraction `less`, after `soon`, or higher by the fraction `more`, after `late`. It restarts with a key
    /// frame, which costs more the lower the rate is.
    private static let (less, soon) = (0.15, Duration.milliseconds(500))
    private static let (more, late) = (0.3, Duration.seconds(3))

    init(_ encoder: any VideoEncoder, _ settings: EncoderSettings) {
        self.encoder = encoder
        self.settings = settings
    }

    /// Returns whether a picture is sent in this step.
    func takes(_ step: PictureLadder.Step, wantsKeyFrame: Bool) -> Bool {
        defer { count += 1 }
        return wantsKeyFrame || format == nil || count % step.pictures == 0
    }

    /// Encodes a picture in the size of the order.
    ///
    /// - Parameters:
    ///   - rate: the source's frame rate.
    ///   - restarted: called when packets restart with a key frame.
    func encode(
        _ frame: VideoFrame, _ order: ViewerHub.Order, rate: Rational?, restarted: () -> Void
    ) throws -> [EncodedPacket] {
        let wanted = VideoFormat(
            size: frame.size, timeBase: Rational(1, 90_000),
            frameRate: rate.map { Rational($0.numerator, $0.denominator * order.step.pictures) },
            colorSpace: frame.colorSpace, sampleAspectRatio: frame.sampleAspectRatio)
        var packets: [EncodedPacket] = []
        if try wanted != format || !follow(order.bitrate, at: frame.timestamp) {
            if format != nil { packets = try encoder.flush() }
            settings.rate = .bitrate(order.bitrate)
            let parameters = try encoder.open(wanted, settings)
            parameterSets = try Self.parameterSets(of: parameters)
            (format, opened) = (wanted, frame.timestamp)
            restarted()
        }
        return try packets + encoder.encode(frame, wantsKeyFrame: order.wantsKeyFrame)
    }

    /// - Returns: false if the encoder must be reopened.
    private func follow(_ bitrate: Int, at now: MonotonicTime) throws -> Bool {
        guard case .bitrate(let current) = settings.rate, current != bitrate else { return true }
        if steers {
            do {
                try encoder.change(bitrate: bitrate, frameRate: nil)
                settings.rate = .bitrate(bitrate)
                return true
            } catch let error as InletError where error.code == .unsupported {
                steers = false
            }
        }
        let step = Double(bitrate - current) / Double(current)
        let age = opened.map { now - $0 } ?? .zero
        return step < 0 ? -step < Self.less || age < Self.soon : step < Self.more || age < Self.late
    }

    private static func parameterSets(of parameters: CodecParameters) throws -> [UInt8] {
        guard [.h264, .hevc].contains(parameters.codec) else { return [] }
        // MP4 records begin with their version, 1.
        guard parameters.extraData.first != 1 else {
            throw InletError(.unsupported, "Only \(parameters.codec) with start codes can be sent to viewers.")
        }
        return parameters.extraData
    }

    func close() { _ = try? encoder.flush() }
}

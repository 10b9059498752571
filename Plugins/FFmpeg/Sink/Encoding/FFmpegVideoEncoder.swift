public import InletCore
import InletFFmpeg

/// Encodes with libavcodec: H.264 (libx264), HEVC (libx265), VP8 and VP9 (libvpx), AV1 (SVT-AV1), Motion JPEG and
/// FFV1, if this build supports them.
///
/// Pictures are read in place. Packets have a time base of 1/90000 s. The first picture is at 0, and the others follow
/// the capture timeline, so that a varying frame rate is preserved.
public final class FFmpegVideoEncoder: VideoEncoder {
    /// The time base of the packets: that of MPEG, in which the frame intervals of all usual rates are whole numbers.
    public static let timeBase = Rational(1, 90_000)

    private var tuning: EncoderTuning?
    private var options: FFmpegEncoder.Options?
    private var encoder: FFmpegEncoder?
    private var origin: MonotonicTime?
    private var lastTicks: Int64?
    private var lastDTS = Int64.min
    /// The capture times of the pictures in the encoder, by their PTS in ticks.
    private var captureTimes: [Int64: (time: MonotonicTime, wallClock: Int64?)] = [:]
    private var lastKey: MonotonicTime?
    private var lastTime: MonotonicTime?

    /// The longest gap after which the encoder continues; if the key-frame interval is longer, that interval applies.
    private static let longestGap = Duration.seconds(10)

    /// Creates an encoder. Opens nothing.
    public init() {}

    /// The codecs that this build of libavcodec can encode.
    public static var codecs: [VideoCodec] { EncoderTuning.available }

    /// Opens libavcodec's best encoder for the codec.
    public func open(_ format: VideoFormat, _ settings: EncoderSettings) throws -> CodecParameters {
        let tuning = try EncoderTuning(settings)
        encoder = nil
        FFmpegLogging.install()
        let size = try Self.encodedSize(format.size, tuning)
        var options = tuning.options(size: size, timeBase: Self.timeBase, frameRate: format.frameRate)
        options.colorSpace = format.colorSpace
        options.sampleAspectRatio = format.sampleAspectRatio
        if tuning.knowsFields { options.fieldOrder = format.fieldOrder }
        let encoder = try Self.makeEncoder(options)
        self.encoder = encoder
        self.tuning = tuning
        self.options = options
        lastKey = nil
        return CodecParameters(
            codec: settings.codec, size: size, timeBase: Self.timeBase, frameRate: format.frameRate,
            colorSpace: encoder.colorSpace, rotation: format.rotation, sampleAspectRatio: format.sampleAspectRatio,
            extraData: encoder.extraData, profile: encoder.profile, level: encoder.level, bitrate: options.bitrate)
    }

    private static func makeEncoder(_ options: FFmpegEncoder.Options) throws(InletError) -> FFmpegEncoder {
        do throws(InletError) {
            let made = { () throws(InletError) in try FFmpegEncoder(options) }
            return try options.encoder == "libsvtav1" ? ThreadScheduling.kept(made) : made()
        } catch {
            guard error.context.operation == "avcodec_open2" else { throw error }
            throw InletError(
                .unsupported,
                "\(options.encoder) does not accept \(options.size) pictures with these settings; see libav's log. "
                    + "Try another codec or size.",
                cause: error, context: error.context)
        }
    }

    private static func encodedSize(_ size: ImageSize, _ tuning: EncoderTuning) throws(InletError) -> ImageSize {
        guard tuning.needsEvenSize else { return size }
        let even = ImageSize(width: size.width & ~1, height: size.height & ~1)
        guard even.isValid else {
            throw InletError(
                .unsupported, "\(tuning.encoder) needs pictures of at least 2x2 pixels, not \(size). Scale with --size."
            )
        }
        return even
    }

    /// Encodes a picture. If its time is not later than that of the previous picture, it gets the next tick.
    public func encode(_ frame: VideoFrame, wantsKeyFrame: Bool) throws -> [EncodedPacket] {
        let earlier = try bridgeGap(before: frame)
        guard let encoder, let tuning else {
            throw InletError(.internal, "A picture was sent before the encoder was opened.")
        }
        let origin = origin ?? frame.timestamp
        self.origin = origin
        let ticks = max(Self.ticks(frame.timestamp - origin), lastTicks.map { $0 + 1 } ?? .min)
        (lastTicks, lastTime) = (ticks, frame.timestamp)
        captureTimes[ticks] = (frame.timestamp, frame.wallClock)
        let isOverdue = lastKey.map { frame.timestamp - $0 >= tuning.settings.keyFrameInterval } ?? true
        let isKey = wantsKeyFrame || isOverdue
        if isKey { lastKey = frame.timestamp }
        try encoder.send(frame.buffer, pts: ticks, isKey: isKey && !tuning.isIntraOnly)
        return try earlier + drain(duration: frame.duration)
    }

    /// After a gap, takes out the pictures that the encoder held back and continues with a new encoder. Otherwise
    /// pictures from before the gap would be decoded hours before they are shown, which neither containers nor players
    /// permit.
    private func bridgeGap(before frame: VideoFrame) throws -> [EncodedPacket] {
        guard let tuning, let options, let lastTime, !captureTimes.isEmpty,
            frame.timestamp - lastTime > max(Self.longestGap, tuning.settings.keyFrameInterval)
        else { return [] }
        let packets = try flush()
        encoder = try Self.makeEncoder(options)
        lastKey = nil
        return packets
    }

    /// Rounds to the nearest tick, so that a time converted from ticks yields them exactly.
    private static func ticks(_ time: Duration) -> Int64 {
        Int64(clamping: (Int128(time.wholeNanoseconds) * 9 + 50_000) / 100_000)
    }

    private func drain(duration: MediaTime?) throws -> [EncodedPacket] {
        guard let encoder, let origin else { return [] }
        var packets: [EncodedPacket] = []
        while let packet = try encoder.receive() {
            guard let pts = packet.pts ?? packet.dts else { continue }
            let isKey = packet.isKey
            // After a gap, a new encoder starts decoding before its first picture, at distances that it does not know
            // yet.
            let dts = max(packet.dts ?? pts, lastDTS &+ 1)
            lastDTS = dts
            let time = MediaTime(ticks: pts, timeBase: Self.timeBase)
            let captured = captureTimes.removeValue(forKey: pts)
            packets.append(
                EncodedPacket(
                    data: try EncodedPacketStorage(moving: packet).data,
                    pts: time,
                    dts: MediaTime(ticks: dts, timeBase: Self.timeBase),
                    duration: duration?.rescaled(to: Self.timeBase), isKey: isKey,
                    captureTime: captured?.time ?? origin + .nanoseconds(time.nanoseconds),
                    wallClock: captured?.wallClock))
        }
        return packets
    }

    /// Changes the bit rate. Only libx264 supports this; the others keep theirs. The frame rate is ignored, because
    /// times are taken from the frames.
    public func change(bitrate: Int?, frameRate: Rational?) throws {
        guard let encoder, let tuning else { return }
        guard let bitrate else { return }
        guard EncoderSettings.bitrates.contains(bitrate) else {
            throw InletError(.invalidConfiguration, "A bit rate of \(bitrate) is out of range.")
        }
        guard tuning.changesBitrate, case .bitrate = tuning.settings.rate else {
            throw InletError(
                .unsupported,
                "\(tuning.encoder) cannot change its bit rate while it runs\(tuning.changesBitrate ? " at a constant quality" : ""). Open it again."
            )
        }
        encoder.change(bitrate: bitrate)
        options?.bitrate = bitrate
    }

    /// Returns the held-back pictures, and closes the encoder.
    public func flush() throws -> [EncodedPacket] {
        defer { (encoder, captureTimes) = (nil, [:]) }
        encoder?.sendEnd()
        return try drain(duration: nil)
    }
}

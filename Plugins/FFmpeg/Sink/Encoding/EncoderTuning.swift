import InletCore
import InletFFmpeg

/// Chooses options for each of libavcodec's encoders, so that presets and qualities mean the same for all of them.
///
/// Guarantees of the presets: `conversation` and `realtime` hold no picture back; `balanced` and `archive` look ahead
/// so little that an interrupted recording loses less than a second.
struct EncoderTuning {
    /// Returns the encoders of a codec, the best first.
    static func encoders(of codec: VideoCodec) -> [String] {
        switch codec {
        case .h264: ["libx264", "h264_videotoolbox", "libopenh264"]
        case .hevc: ["libx265", "hevc_videotoolbox"]
        case .vp8: ["libvpx"]
        case .vp9: ["libvpx-vp9"]
        case .av1: ["libsvtav1"]
        case .mjpeg: ["mjpeg"]
        case .ffv1: ["ffv1"]
        default: []
        }
    }

    /// The codecs for which an encoder is available, in the order of ``codecs``.
    static var available: [VideoCodec] {
        codecs.filter { encoders(of: $0).contains(where: FFmpegEncoder.exists) }
    }

    static let codecs: [VideoCodec] = [.h264, .hevc, .vp8, .vp9, .av1, .mjpeg, .ffv1]

    /// Returns the encoder to use.
    ///
    /// - Throws: ``InletError/Code/unsupported`` with the names of missing and available encoders.
    static func encoder(of codec: VideoCodec) throws(InletError) -> String {
        let names = encoders(of: codec)
        if let name = names.first(where: FFmpegEncoder.exists) { return name }
        let there = available.map(\.rawValue).joined(separator: ", ")
        throw InletError(
            .unsupported,
            names.isEmpty
                ? "There is no encoder for '\(codec)'. Available codecs: \(there)."
                : "This libavcodec was built without \(names.joined(separator: " and ")) for \(codec). Available codecs: \(there)."
        )
    }

    let encoder: String
    let settings: EncoderSettings

    init(_ settings: EncoderSettings) throws(InletError) {
        try settings.validate()
        encoder = try Self.encoder(of: settings.codec)
        self.settings = settings
        if settings.codec == .ffv1, settings.rate != .automatic {
            throw InletError(.invalidConfiguration, "FFV1 is lossless: leave out bitrate and quality.")
        }
    }

    /// Whether the encoder accepts only even sizes: the last column or row of other pictures is cropped.
    var needsEvenSize: Bool { !encoder.hasBytePrefix("libvpx") && ![.mjpeg, .ffv1].contains(settings.codec) }

    /// Whether the encoder codes the fields of interlaced pictures separately.
    var knowsFields: Bool { encoder == "libx264" }
    /// Whether the bit rate can be changed while the encoder is open: libx264 reads it before each picture.
    var changesBitrate: Bool { encoder == "libx264" }

    /// Whether every picture is a key frame.
    var isIntraOnly: Bool { settings.codec == .mjpeg }

    /// Returns the options for opening the encoder, except colour and pixel shape.
    func options(size: ImageSize, timeBase: Rational, frameRate: Rational?) -> FFmpegEncoder.Options {
        let rate = frameRate ?? Rational(30)
        var options = FFmpegEncoder.Options(encoder: encoder, size: size, timeBase: timeBase, frameRate: rate)
        let seconds = Double(settings.keyFrameInterval.wholeNanoseconds) / 1e9
        // With a variable rate, the time decides; this value is for encoders that plan ahead.
        options.keyFrameDistance = max(1, Int(min(1e6, (rate.doubleValue * seconds).rounded(.up))))
        options.threads = settings.threads
        if case .bitrate(let bits) = settings.rate { options.bitrate = bits }
        if settings.preset == .conversation { (options.bufferSeconds, options.onlyRange) = (0.3, .limited) }
        switch encoder {
        case "libx264": x264(&options)
        case "libx265": x265(&options)
        case "libvpx", "libvpx-vp9": vpx(&options)
        case "libsvtav1": svtav1(&options)
        case "mjpeg":
            options.onlyRange = .full
            if options.bitrate == nil { options.quantizer = scaled(from: 31, to: 2, automatic: 4) }
            options.own.append(("huffman", "default"))
        case "ffv1":
            options.keyFrameDistance = 1
            // Version 3 has checksums and slices, which threads can share (RFC 9043, 4.2).
            options.own = [("level", "3"), ("coder", "1"), ("context", "0"), ("slicecrc", "1")]
        default: break
        }
        return options
    }

    /// Maps a quality of 1 to 100 to another scale.
    private func scaled(from worst: Double, to best: Double, automatic: Int) -> Int {
        guard case .quality(let quality) = settings.rate else { return automatic }
        return Int((worst + (best - worst) * Double(quality) / 100).rounded())
    }

    private func x264(_ options: inout FFmpegEncoder.Options) {
        options.own = [("forced-idr", "1")]
        // libx264's baseline profile is the constrained one: it uses neither of the two features that constrained
        // decoders may lack.
        if settings.profile == .constrainedBaseline { options.own.append(("profile", "baseline")) }
        // 0 would be lossless, in a profile that browsers do not support.
        if options.bitrate == nil { options.own.append(("crf", "\(scaled(from: 51, to: 1, automatic: 23))")) }
        switch settings.preset {
        case .conversation:
            options.own += [("preset", "ultrafast"), ("tune", "zerolatency")]
            // A constant quality below a maximum rate. With only an average rate, a still picture would keep the
            // quality of its first moment, and a nearly still one would get bits without a visible effect.
            if options.bitrate != nil { options.own.append(("crf", "22")) }
        case .realtime: options.own += [("preset", "superfast"), ("tune", "zerolatency")]
        case .balanced: options.own += [("preset", "veryfast"), ("rc-lookahead", "8"), ("bf", "2")]
        case .archive: options.own += [("preset", "slow"), ("rc-lookahead", "10"), ("bf", "3")]
        }
        // In realtime, threads share each picture by slices; otherwise each additional thread holds back one picture.
        if [.balanced, .archive].contains(settings.preset), options.threads == 0 { options.threads = 2 }
    }

    private func x265(_ options: inout FFmpegEncoder.Options) {
        var own = "log-level=error:open-gop=0:repeat-headers=0"
        if options.bitrate == nil { options.own.append(("crf", "\(scaled(from: 51, to: 0, automatic: 28))")) }
        switch settings.preset {
        case .conversation, .realtime: options.own += [("preset", "ultrafast"), ("tune", "zerolatency")]
        case .balanced:
            options.own.append(("preset", "superfast"))
            own += ":rc-lookahead=8:bframes=2:frame-threads=1"
        case .archive:
            options.own.append(("preset", "medium"))
            own += ":rc-lookahead=10:bframes=3:frame-threads=1"
        }
        if options.threads > 0 { own += ":pools=\(options.threads)" }
        options.own += [("forced-idr", "1"), ("x265-params", own)]
    }

    private func vpx(_ options: inout FFmpegEncoder.Options) {
        let isNine = encoder == "libvpx-vp9"
        if !isNine { options.onlyRange = .limited }
        options.ticksPerFrame = ticksPerFrame(options)
        if options.bitrate == nil {
            options.own.append(("crf", "\(scaled(from: 63, to: 4, automatic: isNine ? 32 : 12))"))
            // VP8 has no quality mode without a limit: half a bit per pixel is more than it needs.
            options.own.append(("b", isNine ? "0" : "\(max(1_000_000, pixelsPerSecond(options) / 2))"))
        }
        if isNine { options.own += [("row-mt", "1"), ("tile-columns", "1")] }
        // Pictures that are never shown would be packets without their own time; look-ahead would add delay.
        options.own += [("auto-alt-ref", "0"), ("lag-in-frames", "0")]
        switch settings.preset {
        case .conversation:
            // At 30 pictures per second, a key frame takes no more bits than a third of a second.
            options.own += [
                ("deadline", "realtime"), ("cpu-used", isNine ? "8" : "10"), ("max-intra-rate", "1000"),
            ]
            // If maximum and average are equal, this results in a constant bit rate.
            if let bits = options.bitrate { options.own.append(("minrate", "\(bits)")) }
        case .realtime: options.own += [("deadline", "realtime"), ("cpu-used", isNine ? "8" : "6")]
        case .balanced: options.own += [("deadline", "realtime"), ("cpu-used", isNine ? "6" : "3")]
        case .archive: options.own += [("deadline", "good"), ("cpu-used", "2")]
        }
        if options.threads == 0 { options.threads = 2 }
    }

    private func svtav1(_ options: inout FFmpegEncoder.Options) {
        // The encoder rejects a maximum rate that is not higher than the average.
        options.limitsBitrate = false
        var own = "enable-overlays=0:scd=0"
        if options.bitrate == nil { options.own.append(("crf", "\(scaled(from: 63, to: 5, automatic: 35))")) }
        switch settings.preset {
        case .conversation, .realtime:
            options.own.append(("preset", "11"))
            own += ":pred-struct=1:lookahead=0"
        case .balanced:
            options.own.append(("preset", "9"))
            own += ":pred-struct=1:lookahead=0"
        case .archive:
            options.own.append(("preset", "6"))
            own += ":hierarchical-levels=3:lookahead=8"
        }
        if options.threads > 0 { own += ":lp=\(options.threads)" }
        options.own.append(("svtav1-params", own))
    }

    private func ticksPerFrame(_ options: FFmpegEncoder.Options) -> Int {
        Int((1 / (options.timeBase.doubleValue * max(1, options.frameRate.doubleValue))).rounded())
    }

    private func pixelsPerSecond(_ options: FFmpegEncoder.Options) -> Int {
        Int(Double(options.size.width * options.size.height) * min(240, options.frameRate.doubleValue))
    }
}
